import type { LeaseJson } from '../../api/types.js';
import { digits, utc } from '../../lib/format.js';
import { floorOf, viewOf } from '../../lib/lease-state.js';
import { EmptyState } from '../../ui/empty-state.js';
import { StateSwatch } from './state-swatch.js';

/** The largest number of rows. */
const SHOWN = 100;

/** The node ids that were ever used. Node ids in use come first. */
export function LeaseTable({ records, now }: { records: readonly LeaseJson[]; now: number }) {
  const floor = floorOf(records);
  const views = records
    .filter(({ id }) => id >= 0)
    .map((record) => viewOf(record.id, record, now, floor))
    .sort((a, b) => Number(b.state === 'held') - Number(a.state === 'held') || a.id - b.id);
  if (views.length === 0)
    return (
      <EmptyState title="No node id of this namespace was ever used">
        <p>A generator takes a node id when it leases one in this namespace.</p>
      </EmptyState>
    );
  return (
    <>
      <div class="table-frame">
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">State</th>
              <th scope="col">Holder</th>
              <th scope="col" class="end">
                Expires in
              </th>
              <th scope="col" class="end">
                Holders so far
              </th>
              <th scope="col">Fence, UTC</th>
            </tr>
          </thead>
          <tbody>
            {views.slice(0, SHOWN).map(({ id, state, left, record }) => (
              <tr key={id}>
                <th scope="row" data-prefix="Node " class="mono">
                  {id}
                </th>
                <td data-label="State">
                  <StateSwatch state={state} /> {state === 'fenced' ? 'fenced ahead' : state}
                </td>
                <td data-label="Holder">{record?.owner === null ? '—' : record?.label || 'no label'}</td>
                <td data-label="Expires in" class="end mono">
                  {state === 'held' ? `${Math.ceil(left)} s` : '—'}
                </td>
                <td data-label="Holders so far" class="end mono">
                  {record?.epoch}
                </td>
                <td data-label="Fence, UTC" class="mono">
                  {utc(record?.fence ?? 0)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {views.length > SHOWN && (
        <p class="muted pad">{digits(views.length - SHOWN)} more rows are not shown.</p>
      )}
    </>
  );
}
