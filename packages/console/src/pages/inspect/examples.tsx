import { hrefOf } from '../../router.js';
import { EmptyState } from '../../ui/empty-state.js';
import styles from './inspect.module.css';

const EXAMPLES = [
  ['Locality UUID', '20be0ffc-314a-bd53-7a50-013a65ca76d2'],
  ['Flake', '1703865194431643648'],
  ['Sharded key', '1jyVFw3401'],
  ['Public id', 'ord_0fmd13b3x7ktw6mj8150rkf0z3z'],
  ['UUID version 7', '019a8c1e-7b2a-7d3c-9f4e-5a6b7c8d9e0f'],
] as const;

/** Example ids, shown while the field is empty. */
export function Examples() {
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
