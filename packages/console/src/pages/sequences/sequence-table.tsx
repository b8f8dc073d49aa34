import type { SequenceJson } from '../../api/types.js';
import { day, digits, percent, perSecond, relative, short, span } from '../../lib/format.js';
import type { Forecast, UsageSamples } from '../../lib/sequence-rate.js';
import { forecastOf, rateOf, type UsageSample } from '../../lib/sequence-rate.js';
import { isOpenEnded, readUsage, type Usage } from '../../lib/sequence-usage.js';
import { visibleText } from '../../lib/visible-text.js';
import { hrefOf } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Meter } from '../../ui/meter.js';
import { Name } from '../../ui/name.js';
import { TableHead } from '../../ui/table-head.js';
import styles from './sequences.module.css';

interface Props {
  readonly sequences: readonly SequenceJson[];
  readonly samples: UsageSamples;
  /** The reason why this user cannot alter or remove sequences. */
  readonly refusal: string | undefined;
  readonly onAlter: (sequence: SequenceJson) => void;
  readonly onRemove: (sequence: SequenceJson) => void;
}

/** The sequences with their usage, rate and forecast. */
export function SequenceTable({ sequences, samples, ...actions }: Props) {
  return (
    <div class="panel flush">
      <div class="table-frame">
        <table class="broad">
          <caption class="visually-hidden">Sequences</caption>
          <TableHead
            columns={[
              'Name',
              ['Next', 'end wide-only'],
              ['Block', 'end wide-only'],
              ['Step', 'end wide-only'],
              'Used',
              ['Ids/s', 'end'],
              'Runs out',
              <span class="visually-hidden">Actions</span>,
            ]}
          />
          <tbody>
            {sequences.map((sequence) => (
              <SequenceRow
                key={sequence.name}
                sequence={sequence}
                samples={samples.get(sequence.name)}
                {...actions}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface RowProps {
  readonly sequence: SequenceJson;
  readonly samples: readonly UsageSample[] | undefined;
  /** The reason why this user cannot alter or remove sequences. */
  readonly refusal: string | undefined;
  readonly onAlter: (sequence: SequenceJson) => void;
  readonly onRemove: (sequence: SequenceJson) => void;
}

/** A sequence with its usage, rate and forecast. */
function SequenceRow({ sequence, samples, refusal, onAlter, onRemove }: RowProps) {
  const { name, next, blockSize, step, cycle, exhausted, stranded } = sequence;
  const usage = readUsage(sequence);
  const rate = rateOf(samples);
  const shown = visibleText(name);
  return (
    <tr>
      <th scope="row" data-label="Name">
        <a href={hrefOf('sequences', name)}>
          <Name text={name} />
        </a>{' '}
        {cycle && <span class="badge">cycle</span>}
        {exhausted && <span class="badge bad">exhausted</span>}
      </th>
      <td data-label="Next" class="end mono wide-only">
        {exhausted && !stranded ? '—' : next}
      </td>
      <td data-label="Block" class="end mono wide-only">
        {digits(blockSize)}
      </td>
      <td data-label="Step" class="end mono wide-only">
        {digits(step)}
      </td>
      {usage === undefined ? (
        <td data-label="Used" colSpan={3} class="warn-text">
          The row of this sequence makes no sense, so its usage is not known.
        </td>
      ) : (
        <>
          <td data-label="Used" class="used">
            <Used sequence={sequence} usage={usage} />
          </td>
          <td data-label="Ids/s" class="end mono rate">
            {rate === undefined ? <StoreRate sequence={sequence} /> : perSecond(rate)}
          </td>
          <td data-label="Runs out" class="runs-out">
            <ForecastText forecast={forecastOf(sequence, samples, Date.now())} />
          </td>
        </>
      )}
      <td class="actions">
        <a class="button quiet" href={hrefOf('mint', name)} aria-label={`Mint from ${shown}`}>
          Mint
        </a>
        <Button
          look="quiet"
          icon="edit"
          label={`Alter ${shown}`}
          refusal={refusal}
          onClick={() => onAlter(sequence)}
        />
        <Button
          look="quiet"
          icon="remove"
          label={`Remove ${shown}`}
          refusal={refusal}
          onClick={() => onRemove(sequence)}
        />
      </td>
    </tr>
  );
}

/** The rate that the server remembers, until this page has measured one. */
function StoreRate({ sequence: { forecast } }: { sequence: SequenceJson }) {
  if (!forecast || (forecast.confidence === 'none' && forecast.over < 60))
    return <span class="muted">measuring</span>;
  return (
    <span class="muted" title="ids that left the store, for everybody">
      {perSecond(forecast.rate)}
    </span>
  );
}

function Used({ sequence, usage: { used, total, share } }: { sequence: SequenceJson; usage: Usage }) {
  // A sequence that starts over does not run out.
  const tone = sequence.cycle || share < 0.7 ? '' : share < 0.9 ? 'warn' : 'bad';
  // The size of the 64-bit range tells nobody anything.
  const count = isOpenEnded(sequence) ? `${short(used)} ids` : `${short(used)} of ${short(total)}`;
  return (
    <div class={styles.usage} title={`${digits(used)} of ${digits(total)} ids`}>
      <Meter share={share} label={`${percent(share)} used`} tone={tone} />
      <span class="mono">{percent(share)}</span>
      <span class="muted">{count}</span>
    </div>
  );
}

const TEXTS = {
  measuring: 'measuring',
  exhausted: 'has run out',
  cycle: 'never (starts over)',
};

/** A date closer than this is a warning, ms. */
const SOON = 30 * 86_400_000;

/** The time when a sequence runs out. */
function ForecastText({ forecast }: { forecast: Forecast }) {
  if (forecast.kind === 'far') return <span class="muted">in {short(Math.round(forecast.years))} years</span>;
  if (forecast.kind === 'idle')
    return <span class={`muted ${styles.short}`}>idle for {span(forecast.ms)}</span>;
  if (forecast.kind !== 'date') return <span class={`muted ${styles.short}`}>{TEXTS[forecast.kind]}</span>;
  const now = Date.now();
  return (
    <span
      class={forecast.at - now < SOON ? 'warn-text' : undefined}
      title={forecast.confidence && `confidence: ${forecast.confidence}`}
    >
      <span class="mono">{day(forecast.at)}</span> <span class="muted">{relative(forecast.at, now)}</span>
    </span>
  );
}
