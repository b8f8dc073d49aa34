import type { Reading, ServerJson } from '../../api/types.js';
import { hrefOf } from '../../router.js';
import { CopyButton } from '../../ui/copy-button.js';
import { useServer } from '../../ui/use-server.js';
import styles from './public-content.module.css';

/** The id inside a public id, or the reason why it is not shown. */
export function PublicContent({ fields }: { fields: Reading['fields'] }) {
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
