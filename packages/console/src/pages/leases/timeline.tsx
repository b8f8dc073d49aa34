import type { TermJson } from '../../api/types.js';
import { type History, rowsBetween, type SeenWindow } from '../../lib/lease-windows.js';
import { visibleText } from '../../lib/visible-text.js';
import { useWidth } from '../../ui/hooks.js';
import styles from './leases.module.css';

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
export function Timeline({
  history,
  now,
  terms,
}: {
  history: History;
  now: number;
  terms: readonly TermJson[];
}) {
  // The server may have seen a holder before this page did.
  const seen = new Map(terms.map(({ node, term, from }) => [`${node} ${term}`, from]));
  const startOf = ({ id, epoch, from }: SeenWindow) => Math.min(from, seen.get(`${id} ${epoch}`) ?? from);
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
                <Bar key={window.epoch} window={window} start={x(startOf(window))} x={x} now={now} />
              ))}
            </g>
          ))}
        </svg>
      )}
      {rows.length > SHOWN && <p class="muted">{rows.length - SHOWN} more node ids are not shown.</p>}
      <p class="note">
        A bar begins when the server, or this page, first saw the holder. The part of a window after now is
        the time that its holder may still use.
      </p>
    </div>
  );
}

interface BarProps {
  readonly window: SeenWindow;
  /** The place of the time at which the holder was first seen. */
  readonly start: number;
  readonly x: (at: number) => number;
  readonly now: number;
}

function Bar({ window, start, x, now }: BarProps) {
  const { until, isReleased } = window;
  const label = visibleText(window.label);
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

interface AxisProps {
  readonly x: (at: number) => number;
  readonly now: number;
  readonly from: number;
  readonly to: number;
  readonly height: number;
}

/** The possible distances between two ticks, ms. */
const TICKS = [30_000, 60_000];
/** The room for the label of a tick, pixels: the last label ends at its tick, and reaches towards the one before. */
const LABEL_WIDTH = 64;

/** The time axis: seconds before and after now. */
function TimelineAxis({ x, now, from, to, height }: AxisProps) {
  const tick = TICKS.find((ms) => x(now + ms) - x(now) >= LABEL_WIDTH) ?? 60_000;
  const offsets = [];
  for (let at = from; at <= to; at += tick) offsets.push(at - now);
  return (
    <g class={styles.axis}>
      {offsets.map((offset) => (
        <g key={offset} class={offset === 0 ? styles.now : undefined}>
          <line x1={x(now + offset)} x2={x(now + offset)} y1="16" y2={height} />
          <text x={x(now + offset)} y="11" class={offset === to - now ? styles.last : undefined}>
            {offset === 0 ? 'now' : `${offset > 0 ? '+' : '−'}${Math.abs(offset) / 1000} s`}
          </text>
        </g>
      ))}
    </g>
  );
}
