import { useEffect, useRef, useState } from 'preact/hooks';
import type { MakerJson } from '../../api/types.js';
import { utc } from '../../lib/format.js';
import { hrefOf, replaceRest } from '../../router.js';
import { Button } from '../../ui/button.js';
import { EmptyState, Loading, RequestError } from '../../ui/feedback.js';
import { TextField } from '../../ui/field.js';
import { Name } from '../../ui/name.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import styles from './inspect.module.css';
import { ReadingPanel } from './reading-panel.js';
import { SequenceReadings } from './sequence-readings.js';
import { useInspection } from './use-inspection.js';

/** The pause in typing after which the id is inspected, ms. */
const PAUSE = 150;

/** Shows everything that an id contains. */
export function InspectPage({ rest }: { rest: string }) {
  const [text, setText] = useState(rest);
  const { id, readings, makers, sequences, unread, problem, error, isLoading } = useInspection(rest);
  /** True for a number that no family reads, but a sequence contains. */
  const hasSequencePanel = sequences.length > 0 && readings.every(({ family }) => family !== 'sequence');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  // The address decides, so that links and the Back button work.
  useEffect(() => setText((typed) => (typed.trim() === rest ? typed : rest)), [rest]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const type = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => replaceRest('inspect', value.trim()), PAUSE);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    clearTimeout(timer.current);
    replaceRest('inspect', text.trim());
  };

  return (
    <Page title="Inspect" lead="Paste an id of any family to see everything it contains.">
      <form class={styles.form} onSubmit={submit} noValidate>
        <TextField
          label="Id"
          value={text}
          onInput={type}
          placeholder="a UUID, a flake, a key, a number"
          error={problem}
        />
        <Button look="primary" icon="inspect" submit>
          Inspect
        </Button>
      </form>
      <RequestError error={error} />
      {rest === '' && <Examples />}
      {isLoading && <Loading what="the readings" lines={4} />}
      <p class="visually-hidden" role="status">
        {id !== '' && `${readings.length + (hasSequencePanel ? 1 : 0)} readings`}
      </p>
      <div class={styles.readings}>
        {readings.map((reading, i) => (
          <ReadingPanel
            key={`${id} ${reading.family} ${reading.fields.layout ?? ''} ${i}`}
            id={id}
            reading={reading}
            isBest={i === 0 && readings.length > 1}
          >
            {reading.family === 'flake' && (
              <Makers makers={makers.filter(({ layout }) => layout === reading.fields.layout)} />
            )}
            {reading.family === 'sequence' && (
              <SequenceReadings id={id} sequences={sequences} unread={unread} />
            )}
          </ReadingPanel>
        ))}
        {hasSequencePanel && (
          <Panel title="Sequence number">
            <SequenceReadings id={id} sequences={sequences} unread={unread} />
          </Panel>
        )}
      </div>
    </Page>
  );
}

const EXAMPLES = [
  ['Locality UUID', '20be0ffc-314a-bd53-7a50-013a65ca76d2'],
  ['Flake', '1703865194431643648'],
  ['Sharded key', '1jyVFw3401'],
  ['Public id', 'ord_0fmd13b3x7ktw6mj8150rkf0z3z'],
  ['UUID version 7', '019a8c1e-7b2a-7d3c-9f4e-5a6b7c8d9e0f'],
] as const;

/** Example ids, shown while the field is empty. */
function Examples() {
  return (
    <EmptyState title="No id yet">
      <p>
        The console detects the family. If an id can be read in several ways, you see all readings. Try an
        example:
      </p>
      <ul class={styles.examples}>
        {EXAMPLES.map(([label, id]) => (
          <li key={id}>
            <a href={hrefOf('inspect', id)}>
              <span>{label}</span>
              <span class="mono">{id}</span>
            </a>
          </li>
        ))}
      </ul>
    </EmptyState>
  );
}

/** Who made a flake: the holders of its node id at its time. */
function Makers({ makers }: { makers: readonly MakerJson[] }) {
  return (
    <>
      {makers.length > 1 && (
        <p class="note">The id tells its node id, not its namespace. One of these may have made it:</p>
      )}
      {makers.map(({ namespace, node, term, label, from, to, isHeld, isCertain }) => (
        <p key={namespace} class="note">
          {isCertain ? 'Made by ' : 'Perhaps made by '}
          <strong>{label ? <Name text={label} /> : `a holder without a label (term ${term})`}</strong>, which{' '}
          {isHeld
            ? `holds node ${node} (first seen ${utc(from)})`
            : `held node ${node} (seen from ${utc(from)} to ${utc(to)})`}
          , in the namespace{' '}
          <a href={hrefOf('leases', namespace)}>
            <Name text={namespace} />
          </a>
          .{isCertain ? '' : ' The server may have missed the true holder.'}
        </p>
      ))}
    </>
  );
}
