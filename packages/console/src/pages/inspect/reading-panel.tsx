import type { ComponentChildren } from 'preact';
import { sentenceOf } from '../../api/errors.js';
import type { Reading, ServerJson } from '../../api/types.js';
import { diagramOf } from '../../lib/diagram/diagram.js';
import { relative } from '../../lib/format.js';
import { hrefOf } from '../../router.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Panel } from '../../ui/panel.js';
import { useServer } from '../../ui/use-server.js';
import { IdDiagram } from './id-diagram.js';
import styles from './inspect.module.css';

const TITLES: Readonly<Record<string, string>> = {
  locality: 'Locality UUID',
  uuid: 'UUID',
  flake: 'Flake',
  key: 'Sharded key',
  public: 'Public id',
  typeid: 'TypeID',
  ulid: 'ULID',
  ksuid: 'KSUID',
  objectid: 'ObjectId',
  xid: 'xid',
  nanoid: 'Random text',
  sequence: 'Sequence number',
  series: 'Number of a series',
};

/** The labels of fields whose names are not plain words. */
const LABELS: Readonly<Record<string, string>> = {
  sequentialCounter: 'counter (sequential mode)',
  variableCounter: 'counter (variable mode)',
  processId: 'process id',
  macFragment: 'MAC fragment',
  timestamp: 'Unix ms',
  ms: 'ms since the epoch',
  keyId: 'key id',
};

/** Fields that are shown elsewhere: the time above the others, the layout in the title, and the id inside a public id below. */
const ELSEWHERE = ['utc', 'iso', 'layout', 'id'];

interface Props {
  readonly id: string;
  readonly reading: Reading;
  readonly isBest: boolean;
  readonly children?: ComponentChildren;
}

/** One reading of an id: its reason, its time, its diagram and its fields. */
export function ReadingPanel({ id, reading, isBest, children }: Props) {
  const { family, reason, fields } = reading;
  const diagram = diagramOf(id, reading);
  const variety = fields.layout ?? fields.format;
  const title = `${TITLES[family] ?? family}${variety === undefined ? '' : `, ${variety}`}`;
  return (
    <Panel title={title} actions={isBest && <span class="badge">most likely</span>}>
      {reason && <p class="muted">{sentenceOf(reason)}</p>}
      <Time fields={fields} />
      {diagram && <IdDiagram diagram={diagram} title={title} />}
      <dl class="fields">
        {Object.entries(fields)
          .filter(([name]) => !ELSEWHERE.includes(name))
          .map(([name, value]) => (
            <div key={name}>
              <dt>{LABELS[name] ?? name}</dt>
              <dd class="mono">{String(value)}</dd>
            </div>
          ))}
      </dl>
      {family === 'public' && <PublicContent fields={fields} />}
      {children}
    </Panel>
  );
}

function Time({ fields }: { fields: Reading['fields'] }) {
  const { timestamp, utc, iso } = fields;
  if (typeof timestamp !== 'number' || typeof iso !== 'string') return null;
  return (
    <p class={styles.time}>
      <time dateTime={iso} class="mono">
        {utc}
      </time>
      <CopyButton text={iso} what="the time" />
      <span class="muted">
        {relative(timestamp, Date.now())} · {new Date(timestamp).toLocaleString()} local time
      </span>
    </p>
  );
}

/** The id inside a public id, or the reason why it is not shown. */
function PublicContent({ fields }: { fields: Reading['fields'] }) {
  const server = useServer();
  if (typeof fields.id === 'string')
    return (
      <p class={styles.content}>
        <span class="muted">The id inside:</span>
        <a class="mono" href={hrefOf('inspect', fields.id)} title="Inspect">
          {fields.id}
        </a>
        <CopyButton text={fields.id} what="the id inside" />
      </p>
    );
  const reason = server && reasonOf(String(fields.prefix), server);
  return reason ? <p class="note">{reason}</p> : null;
}

/** The reason why the server does not tell the id inside; `undefined` if the reading says it already. */
function reasonOf(prefix: string, { publicIds = [], scopes }: ServerJson): string | undefined {
  if (!publicIds.some((each) => each.prefix === prefix))
    return `The id inside is encrypted. This server has no key for the prefix ${prefix}.`;
  if (scopes.includes('admin')) return undefined;
  return 'The id inside is encrypted. The server shows it to tokens with the scope admin only.';
}
