import { digits, utc } from '../../lib/format.js';
import { hrefOf } from '../../router.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Panel } from '../../ui/panel.js';
import { TableHead } from '../../ui/table-head.js';
import { FAMILIES, type MintFamily } from './families.js';
import styles from './minted-ids.module.css';

export interface Minted {
  readonly family: MintFamily;
  readonly ids: readonly string[];
  /** The public id of each id, if they were asked for. */
  readonly publicIds?: readonly string[];
  readonly at: number;
}

/** The largest number of rows, so that the page stays fast. The copy button copies all ids. */
const SHOWN = 200;

/** The ids of the last request, with buttons to copy them. */
export function MintedIds({ minted: { family, ids, publicIds, at } }: { minted: Minted }) {
  const hidden = ids.length - SHOWN;
  const title = `${digits(ids.length)} ${ids.length === 1 ? 'id' : 'ids'}: ${FAMILIES[family].label}`;
  return (
    <Panel
      title={title}
      actions={
        <>
          <CopyAll ids={ids} name="id" isOnly={publicIds === undefined} />
          {publicIds && <CopyAll ids={publicIds} name="public id" />}
        </>
      }
    >
      <p class="muted" role="status">
        Minted at {utc(at)} UTC.
      </p>
      {publicIds ? (
        <PairTable ids={ids.slice(0, SHOWN)} publicIds={publicIds} />
      ) : (
        <ol class={styles.ids}>
          {ids.slice(0, SHOWN).map((id) => (
            <li key={id}>
              <Id text={id} />
            </li>
          ))}
        </ol>
      )}
      {hidden > 0 && (
        <p class="muted">{digits(hidden)} more ids are not shown. The copy buttons include them.</p>
      )}
    </Panel>
  );
}

interface CopyAllProps {
  readonly ids: readonly string[];
  /** The name of one of them. */
  readonly name: string;
  /** True if there is no other button for all. */
  readonly isOnly?: boolean;
}

function CopyAll({ ids, name, isOnly = false }: CopyAllProps) {
  const what = ids.length === 1 ? `the ${name}` : `all ${digits(ids.length)} ${name}s`;
  return (
    <CopyButton text={ids.join('\n')} what={what}>
      {isOnly && ids.length > 1 ? 'Copy all' : `Copy ${what}`}
    </CopyButton>
  );
}

/** Each id beside its public id. */
function PairTable({ ids, publicIds }: Required<Pick<Minted, 'ids' | 'publicIds'>>) {
  return (
    <div class={`table-frame ${styles.pairs}`}>
      <table>
        <TableHead columns={['Id', 'Public id']} />
        <tbody>
          {ids.map((id, i) => (
            <tr key={id}>
              <th scope="row">
                <Id text={id} />
              </th>
              <td data-label="Public id">
                <Id text={publicIds[i] ?? ''} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** One id, with a link to its readings and a button to copy it. */
function Id({ text }: { text: string }) {
  return (
    <span class={styles.id}>
      <a class="mono" href={hrefOf('inspect', text)} title="Inspect">
        {text}
      </a>
      <CopyButton text={text} what={text} />
    </span>
  );
}
