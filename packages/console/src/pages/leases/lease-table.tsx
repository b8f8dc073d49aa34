import type { LeaseJson } from '../../api/types.js';
import { digits, utc } from '../../lib/format.js';
import { floorOf, type LeaseState, oddityOf, viewOf } from '../../lib/lease-state.js';
import { EmptyState } from '../../ui/feedback.js';
import { Name } from '../../ui/name.js';
import { TableHead } from '../../ui/table-head.js';
import styles from './leases.module.css';
import { StateSwatch } from './state-legend.js';

/** The largest number of rows. */
const SHOWN = 100;

/** The states that come first, the first one last. All others follow, by node id. */
const ORDER: readonly LeaseState[] = ['held', 'odd'];

interface TableProps {
  readonly records: readonly LeaseJson[];
  readonly now: number;
  /** True if the records are old. Nobody knows then whether a lease is still held. */
  readonly isStale: boolean;
}

/** The node ids that were ever used. Odd records and node ids in use come first. */
export function LeaseTable({ records, now, isStale }: TableProps) {
  const floor = floorOf(records);
  const views = records
    .filter(({ id }) => id >= 0)
    .map((record) => ({ ...viewOf(record.id, record, now, floor), record }))
    .sort((a, b) => ORDER.indexOf(b.state) - ORDER.indexOf(a.state) || a.id - b.id);
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
          <TableHead
            columns={[
              'Node',
              'State',
              'Holder',
              ['Expires in', 'end'],
              ['Holders so far', 'end'],
              'Fence, UTC',
            ]}
          />
          <tbody>
            {views.slice(0, SHOWN).map(({ state, left, record }) => (
              <tr key={record.id}>
                <th scope="row" data-prefix="Node " class="mono">
                  {record.id}
                </th>
                {state === 'odd' ? (
                  <td data-label="State" colSpan={5} class="warn-text">
                    <StateSwatch state={state} /> This record makes no sense: {oddityOf(record)}.
                  </td>
                ) : (
                  <Cells state={state} left={left} record={record} isStale={isStale} />
                )}
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

interface CellsProps {
  readonly state: LeaseState;
  readonly left: number;
  readonly record: LeaseJson;
  readonly isStale: boolean;
}

function Cells({ state, left, record: { owner, label, epoch, fence }, isStale }: CellsProps) {
  return (
    <>
      <td data-label="State">
        <StateSwatch state={state} /> {isStale ? 'unknown' : state === 'fenced' ? 'fenced ahead' : state}
      </td>
      <td data-label="Holder">{owner === null ? '—' : label ? <Name text={label} /> : 'no label'}</td>
      <td data-label="Expires in" class="end mono">
        {state === 'held' && !isStale ? `${Math.ceil(left)} s` : '—'}
      </td>
      <td data-label="Holders so far" class={`end mono ${styles.spare}`}>
        {epoch}
      </td>
      <td data-label="Fence, UTC" class="mono">
        {utc(fence)}
      </td>
    </>
  );
}
