import { api } from '../../api/routes.js';
import { digits } from '../../lib/format.js';
import { hrefOf } from '../../router.js';
import { Name } from '../../ui/name.js';
import { Panel } from '../../ui/panel.js';
import { TableHead } from '../../ui/table-head.js';
import { usePolling } from '../../ui/use-polling.js';

/** The most counters that are shown of a series. */
const SHOWN = 20;

/** The series of the store with their tenants and periods; nothing where there are none. */
export function SeriesTable() {
  const { data = [] } = usePolling('series', (signal) => api.series(signal), 10_000);
  const rows = data.flatMap(({ name, counters }) =>
    counters.slice(0, SHOWN).map((counter) => ({ series: name, ...counter })),
  );
  const hidden = data.reduce((sum, { total }) => sum + total, 0) - rows.length;
  if (data.length === 0) return null;
  return (
    <Panel title="Series" class="flush">
      <div class="table-frame">
        <table>
          <TableHead columns={['Series', 'Tenant', 'Period', ['Next number', 'end']]} />
          <tbody>
            {rows.map(({ series, tenant, period, sequence, next }) => (
              <tr key={sequence}>
                <th scope="row" data-label="Series">
                  <a href={hrefOf('sequences', sequence)}>
                    <Name text={series} />
                  </a>
                </th>
                <td data-label="Tenant">{tenant === null ? 'none' : <Name text={tenant} />}</td>
                <td data-label="Period">{period === '' ? 'none' : period}</td>
                <td data-label="Next number" class="end mono">
                  {next}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {hidden > 0 && <p class="muted pad">{digits(hidden)} counters of earlier periods are not shown.</p>}
    </Panel>
  );
}
