import { useRef, useState } from 'preact/hooks';
import type { LeaseJson } from '../../api/types.js';
import { digits } from '../../lib/format.js';
import { viewsOf } from '../../lib/lease-state.js';
import { Button } from '../../ui/button.js';
import styles from './leases.module.css';
import { NodeCell } from './node-cell.js';
import { NodeDetail } from './node-detail.js';

/** The number of node ids on one page of the grid. Small screens show fewer. */
const PAGE = matchMedia('(max-width: 640px)').matches ? 128 : 512;

interface Props {
  readonly records: readonly LeaseJson[];
  readonly now: number;
  /** The lowest node id of the namespace. */
  readonly lowest: number;
  /** The number of its node ids. */
  readonly size: number;
  /** True if the records are old. Nobody knows then whether a lease is still held. */
  readonly isStale: boolean;
}

/** A grid with a cell for each node id. One cell is in the tab order; the arrow keys move to the others. */
export function LeaseGrid({ records, now, lowest, size, isStale }: Props) {
  const [wanted, setFirst] = useState(lowest);
  const [current, setCurrent] = useState(lowest);
  const grid = useRef<HTMLUListElement>(null);
  const end = lowest + size;
  const first = wanted < end ? wanted : lowest;
  const count = Math.min(PAGE, end - first);
  const views = viewsOf(records, now, first, count);
  const chosen = Math.min(Math.max(current, first), first + count - 1);

  const go = (id: number) => {
    if (id < first || id >= first + count) return;
    setCurrent(id);
    grid.current?.querySelector<HTMLElement>(`[data-node="${id}"]`)?.focus();
  };
  const moveFocus = (event: KeyboardEvent) => {
    const columns = columnsOf(grid.current);
    const targets: Record<string, number> = {
      ArrowRight: chosen + 1,
      ArrowLeft: chosen - 1,
      ArrowDown: chosen + columns,
      ArrowUp: chosen - columns,
      Home: first,
      End: first + count - 1,
    };
    const to = targets[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };

  return (
    <>
      <ul
        class={styles.grid}
        ref={grid}
        onKeyDown={moveFocus}
        aria-label="Node ids; move with the arrow keys"
      >
        {views.map((view) => (
          <NodeCell
            key={view.id}
            id={view.id}
            state={view.state}
            left={Math.ceil(view.left)}
            label={view.record?.label ?? ''}
            isCurrent={view.id === chosen}
            onChoose={setCurrent}
          />
        ))}
      </ul>
      {size > PAGE && (
        <div class={styles.pager}>
          <Button disabled={first === lowest} onClick={() => setFirst(first - PAGE)}>
            Lower
          </Button>
          <span class="mono">
            {digits(first)} – {digits(first + count - 1)} of {digits(size)}
          </span>
          <Button disabled={first + PAGE >= end} onClick={() => setFirst(first + PAGE)}>
            Higher
          </Button>
        </div>
      )}
      {views[chosen - first] && <NodeDetail view={views[chosen - first]!} isStale={isStale} />}
    </>
  );
}

/** The number of columns, which the stylesheet decides. */
function columnsOf(grid: HTMLElement | null): number {
  return grid === null ? 1 : getComputedStyle(grid).gridTemplateColumns.split(' ').length;
}
