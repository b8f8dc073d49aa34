import { type History, rowsBetween, type SeenWindow } from '../../lib/lease-windows.js';
import { visibleText } from '../../lib/visible-text.js';
import { useWidth } from '../../ui/use-width.js';
import styles from './timeline.module.css';
import { TimelineAxis } from './timeline-axis.js';

/** The time range of the timeline before and after now, ms. */
const PAST = 120_000;
const FUTURE = 60_000;

/** Sizes in pixels. */
const ROW = 22;
const LEFT = 44;
const TOP = 20;
/** The width of a letter in a label. */
const LETTER = 6.4;

/** The largest number of rows. */
const SHOWN = 20;

/** The windows of each node id over time. Windows of one node id never overlap. */
export function Timeline({ history, now }: { history: History; now: number }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [from, to] = [now - PAST, now + FUTURE];
  const rows = rowsBetween(history, from, to);
  const shown = rows.slice(0, SHOWN);
  const height = TOP + shown.length * ROW;
  const x = (at: number) => LEFT + (Math.min(Math.max(at, from), to) - from) * ((width - LEFT) / (to - from));
  return (
    <div ref={ref} class={styles.timeline}>
      {shown.length === 0 && (
        <p class="muted">No window was open in the last two minutes while this page was open.</p>
      )}
      {shown.length > 0 && width > 0 && (
        <svg
          width={width}
          height={height + 4}
          role="img"
          aria-label={`Windows of ${shown.length} node ids from two minutes ago to one minute ahead`}
        >
          <TimelineAxis x={x} now={now} from={from} to={to} height={height} />
          {shown.map(({ id, windows }, row) => (
            <g key={id} transform={`translate(0 ${TOP + row * ROW})`}>
              <text class={styles.nodeId} x={LEFT - 10} y={ROW / 2 + 4}>
                {id}
              </text>
              {windows.map((window) => (
                <Bar key={window.epoch} window={window} x={x} now={now} />
              ))}
            </g>
          ))}
        </svg>
      )}
      {rows.length > SHOWN && <p class="muted">{rows.length - SHOWN} more node ids are not shown.</p>}
      <p class="note">
        The timeline starts when this page is opened. Earlier windows start at the left edge. The part of a
        window after now is the time that its holder may still use.
      </p>
    </div>
  );
}

function Bar({ window, x, now }: { window: SeenWindow; x: (at: number) => number; now: number }) {
  const { from, until, isFromKnown, isReleased } = window;
  const label = visibleText(window.label);
  const start = x(isFromKnown ? from : 0);
  const end = x(until);
  const middle = Math.max(start, Math.min(end, x(now)));
  const hasRoom = (width: number) => label.length * LETTER < width - 12;
  return (
    <g class={isReleased || until <= now ? styles.past : undefined}>
      <title>{`${label || 'no label'}, term ${window.epoch}${isReleased ? ', released' : ''}`}</title>
      <rect class={styles.used} x={start} y="3" width={Math.max(middle - start, 1)} height={ROW - 6} rx="2" />
      {end > middle && (
        <rect class={styles.ahead} x={middle} y="3" width={end - middle} height={ROW - 6} rx="2" />
      )}
      {hasRoom(middle - start) ? (
        <text class={styles.label} x={start + 6} y={ROW / 2 + 4}>
          {label}
        </text>
      ) : (
        hasRoom(end - middle) && (
          <text class={styles.labelAhead} x={middle + 6} y={ROW / 2 + 4}>
            {label}
          </text>
        )
      )}
    </g>
  );
}
