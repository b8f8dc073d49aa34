import type { NamespaceJson } from '../../api/types.js';
import { digits, percent } from '../../lib/format.js';
import { hrefOf } from '../../router.js';
import { Meter } from '../../ui/meter.js';
import { Name } from '../../ui/name.js';
import { Panel } from '../../ui/panel.js';
import { TableHead } from '../../ui/table-head.js';
import styles from './leases.module.css';

/** The namespaces of the store, with the node ids that are held. */
export function NamespaceTable({
  namespaces,
  current,
}: {
  namespaces: readonly NamespaceJson[];
  current: string;
}) {
  return (
    <Panel title="Namespaces" class="flush">
      <div class="table-frame">
        <table class={styles.namespaces}>
          <TableHead
            columns={[
              'Namespace',
              'Layout',
              ['Held', 'end'],
              'Share',
              ['Expired', 'end'],
              ['Ever used', 'end'],
            ]}
          />
          <tbody>
            {namespaces.map(({ namespace, layout, size, held, expired, used }) => {
              const share = size === null ? 0 : held / size;
              return (
                <tr key={namespace}>
                  <th scope="row">
                    <a
                      href={hrefOf('leases', namespace)}
                      aria-current={namespace === current ? 'true' : undefined}
                    >
                      <Name text={namespace} />
                    </a>
                  </th>
                  <td data-label="Layout">{layout === null ? '—' : <Name text={layout} />}</td>
                  <td data-label="Held" class="end mono">
                    {digits(held)}
                    {size !== null && ` of ${digits(size)}`}
                  </td>
                  <td data-label="Share" class={styles.spare}>
                    {size === null ? (
                      '—'
                    ) : (
                      <Meter share={share} label={`${percent(share)} held`} tone={share > 0.8 ? 'bad' : ''} />
                    )}
                  </td>
                  <td data-label="Expired" class="end mono">
                    {digits(expired)}
                  </td>
                  <td data-label="Ever used" class={`end mono ${styles.spare}`}>
                    {digits(used)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
