import { Component } from 'preact';
import type { LeaseState } from '../../lib/lease-state.js';
import { visibleText } from '../../lib/visible-text.js';
import styles from './node-state.module.css';

interface Props {
  readonly id: number;
  readonly state: LeaseState;
  /** Seconds left, rounded up. */
  readonly left: number;
  readonly label: string;
  readonly isCurrent: boolean;
  readonly onChoose: (id: number) => void;
}

/** The cell of a node id. Only the few cells that change are rendered again. */
export class NodeCell extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return (Object.keys(next) as (keyof Props)[]).some((key) => next[key] !== this.props[key]);
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
