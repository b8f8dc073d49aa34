import { useState } from 'preact/hooks';
import { type Diagram, fieldsOf } from '../../lib/diagram/diagram.js';
import { type Run, rowsOf } from '../../lib/diagram/rows.js';
import { useWidth } from '../../ui/hooks.js';
import styles from './id-diagram.module.css';

/** Sizes in pixels. */
const CELL_HEIGHT = 26;
const LABEL_HEIGHT = 26;
const ROW_HEIGHT = CELL_HEIGHT + LABEL_HEIGHT;
/** The narrowest cell that has room for its digit. */
const NARROWEST_DIGIT = 9;
/** The width of a letter in a label. */
const LETTER = 6.6;

/** The bits or digits of an id, each in the colour of its field, with a legend. */
export function IdDiagram({ diagram, title }: { diagram: Diagram; title: string }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [field, setField] = useState('');
  const { unit, cells } = diagram;
  const fields = fieldsOf(diagram);
  const columns = unit === 'bit' ? (width < 700 ? 32 : 64) : cells.length;
  const rows = rowsOf(diagram, columns);
  // An id has few digits, so wide cells would look odd.
  const cell = Math.min(width / columns, unit === 'bit' ? 22 : 34);
  const summary = fields.map((each) => `${each.field} ${plural(each.width, unit)}`).join(', ');
  return (
    <figure class={styles.diagram} ref={ref}>
      <svg
        width={cell * columns}
        height={rows.length * ROW_HEIGHT}
        role="img"
        aria-label={`${title}, from the highest ${unit} to the lowest: ${summary}`}
      >
        {rows.map((runs, row) => (
          <g key={row} transform={`translate(0 ${row * ROW_HEIGHT})`}>
            {runs.map((run) => (
              <RunOfCells
                key={run.column}
                run={run}
                cell={cell}
                hasTint={unit === 'bit'}
                isFaded={field !== '' && run.field !== field}
              />
            ))}
          </g>
        ))}
      </svg>
      <figcaption>
        <ul class="legend">
          {fields.map((each) => (
            <li
              key={each.field}
              class={styles[each.kind]}
              onMouseEnter={() => setField(each.field)}
              onMouseLeave={() => setField('')}
            >
              <span class="swatch" aria-hidden="true" />
              {each.field}
              <span class="muted">{plural(each.width, unit)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

interface RunProps {
  readonly run: Run;
  /** The width of a cell, pixels. */
  readonly cell: number;
  /** True if zeros are paler, as in bits. */
  readonly hasTint: boolean;
  readonly isFaded: boolean;
}

function RunOfCells({ run, cell, hasTint, isFaded }: RunProps) {
  const { field, kind, column, cells } = run;
  const width = cells.length * cell;
  const hasRoom = width > field.length * LETTER;
  return (
    <g
      class={`${styles.run} ${styles[kind]} ${isFaded ? styles.faded : ''}`}
      transform={`translate(${column * cell} 0)`}
    >
      <title>{`${field}: ${cells}`}</title>
      {[...cells].map((digit, i) => (
        <g key={i} transform={`translate(${i * cell} 0)`}>
          <rect
            class={`${styles.cell} ${hasTint && digit === '0' ? styles.zero : ''}`}
            width={Math.max(cell - 1, 1)}
            height={CELL_HEIGHT}
          />
          {cell >= NARROWEST_DIGIT && (
            <text
              class={`${styles.digit} ${hasTint && digit === '0' ? styles.zero : ''}`}
              x={(cell - 1) / 2}
              y={CELL_HEIGHT / 2 + 4}
            >
              {digit}
            </text>
          )}
        </g>
      ))}
      <rect class={styles.underline} y={CELL_HEIGHT + 2} width={Math.max(width - 1, 1)} height="2" />
      {hasRoom && (
        <text class={styles.label} y={CELL_HEIGHT + 15}>
          {field}
        </text>
      )}
    </g>
  );
}

const plural = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;
