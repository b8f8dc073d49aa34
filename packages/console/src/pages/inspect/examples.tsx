import { hrefOf } from '../../router.js';
import { EmptyState } from '../../ui/empty-state.js';
import styles from './examples.module.css';

const EXAMPLES = [
  ['Locality UUID', '20be0ffc-314a-bd53-7a50-013a65ca76d2'],
  ['Flake', '1703865194431643648'],
  ['Sharded key', '1jyVFw3401'],
  ['Any UUID', '019a8c1e-7b2a-7d3c-9f4e-5a6b7c8d9e0f'],
] as const;

/** What stands there before anything was asked. */
export function Examples() {
  return (
    <EmptyState title="Nothing to read yet">
      <p>
        The family is found by itself; where an id can be read in several ways, all of them are shown. Try
        one:
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
