import { digits } from '../../lib/format.js';
import { Button } from '../../ui/button.js';

interface Props {
  /** The number of rows before this page. */
  readonly before: number;
  readonly count: number;
  readonly total: number;
  readonly onPrevious: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}

/** The place of a page in the whole list, and the way to its neighbours. */
export function SequencePager({ before, count, total, onPrevious, onNext }: Props) {
  return (
    <nav class="row tight pager" aria-label="Pages of the list">
      <Button disabled={onPrevious === undefined} onClick={() => onPrevious?.()}>
        Previous
      </Button>
      <span class="mono" role="status">
        {count === 0 ? 'none' : `${digits(before + 1)} – ${digits(before + count)}`} of {digits(total)}
      </span>
      <Button disabled={onNext === undefined} onClick={() => onNext?.()}>
        Next
      </Button>
    </nav>
  );
}
