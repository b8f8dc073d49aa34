import { digits, utc } from '../../lib/format.js';
import { hrefOf } from '../../router.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Panel } from '../../ui/panel.js';
import { FAMILIES, type MintFamily } from './families.js';
import styles from './minted-ids.module.css';

export interface Minted {
  readonly family: MintFamily;
  readonly ids: readonly string[];
  readonly at: number;
}

/** The largest number of rows, so that the page stays fast. The copy button copies all ids. */
const SHOWN = 200;

/** The ids of the last request, with buttons to copy them. */
export function MintedIds({ minted: { family, ids, at } }: { minted: Minted }) {
  const hidden = ids.length - SHOWN;
  const title = `${digits(ids.length)} ${ids.length === 1 ? 'id' : 'ids'}: ${FAMILIES[family].label}`;
  return (
    <Panel
      title={title}
      actions={
        <CopyButton
          text={ids.join('\n')}
          what={ids.length === 1 ? 'the id' : `all ${digits(ids.length)} ids`}
        >
          Copy all
        </CopyButton>
      }
    >
      <p class="muted" role="status">
        Minted at {utc(at)} UTC.
      </p>
      <ol class={styles.ids}>
        {ids.slice(0, SHOWN).map((id) => (
          <li key={id}>
            <a class="mono" href={hrefOf('inspect', id)} title="Inspect">
              {id}
            </a>
            <CopyButton text={id} what={id} />
          </li>
        ))}
      </ol>
      {hidden > 0 && <p class="muted">{digits(hidden)} more ids are not shown. “Copy all” includes them.</p>}
    </Panel>
  );
}
