import { Component } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { LeaseJson } from '../../api/types.js';
import { digits } from '../../lib/format.js';
import { type LeaseState, viewsOf } from '../../lib/lease-state.js';
import { visibleText } from '../../lib/visible-text.js';
import { Button } from '../../ui/button.js';
import styles from './leases.module.css';
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

interface CellProps {
  readonly id: number;
  readonly state: LeaseState;
  /** Seconds left, rounded up. */
  readonly left: number;
  readonly label: string;
  readonly isCurrent: boolean;
  readonly onChoose: (id: number) => void;
}

/** The cell of a node id. Only the few cells that change are rendered again. */
class NodeCell extends Component<CellProps> {
  override shouldComponentUpdate(next: CellProps): boolean {
    return (Object.keys(next) as (keyof CellProps)[]).some((key) => next[key] !== this.props[key]);
  }

  override render() {
    const { id, state, left, label, isCurrent, onChoose } = this.props;
    const holder =
      state === 'held' ? ` by ${visibleText(label) || 'a process without a label'}, ${left} s left` : '';
    const wait = state === 'fenced' ? ` ahead for ${left} s` : '';
    const text = `Node ${id}: ${state === 'odd' ? 'its record makes no sense' : state}${holder}${wait}`;
    return (
      <li>
        <button
          type="button"
          class={`${styles.cell} ${state === 'free' ? '' : styles[state]}`}
          data-node={id}
          tabIndex={isCurrent ? 0 : -1}
          aria-pressed={isCurrent}
          aria-label={text}
          title={text}
          onClick={() => onChoose(id)}
          onFocus={() => onChoose(id)}
        >
          {id}
        </button>
      </li>
    );
  }
}
