import type { SequenceJson } from '../../api/types.js';
import { digits, percent, perSecond, short } from '../../lib/format.js';
import { forecastOf, rateOf, type UsageSamples } from '../../lib/sequence-rate.js';
import { isOpenEnded, usageOf } from '../../lib/sequence-usage.js';
import { hrefOf } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Meter } from '../../ui/meter.js';
import { ForecastText } from './forecast-text.js';
import styles from './sequence-table.module.css';

interface Props {
  readonly sequences: readonly SequenceJson[];
  readonly samples: UsageSamples;
  readonly onAlter: (sequence: SequenceJson) => void;
  readonly onRemove: (sequence: SequenceJson) => void;
}

/** The sequences with their usage, rate and forecast. */
export function SequenceTable({ sequences, samples, onAlter, onRemove }: Props) {
  return (
    <div class="panel flush">
      <div class="table-frame">
        <table class="broad">
          <caption class="visually-hidden">Sequences, by name</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col" class="end">
                Next
              </th>
              <th scope="col" class="end">
                Block
              </th>
              <th scope="col" class="end">
                Step
              </th>
              <th scope="col">Used</th>
              <th scope="col" class="end">
                Ids/s
              </th>
              <th scope="col">Runs out</th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sequences.map((sequence) => (
              <Row key={sequence.name} {...{ sequence, samples, onAlter, onRemove }} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Row({
  sequence,
  samples,
  onAlter,
  onRemove,
}: Omit<Props, 'sequences'> & { sequence: SequenceJson }) {
  const { name, next, blockSize, step, cycle, exhausted } = sequence;
  const rate = rateOf(samples.get(name));
  return (
    <tr>
      <th scope="row" data-label="Name">
        {name} {cycle && <span class="badge">cycle</span>}
        {exhausted && <span class="badge bad">exhausted</span>}
      </th>
      <td data-label="Next" class="end mono">
        {exhausted ? '—' : next}
      </td>
      <td data-label="Block" class="end mono">
        {digits(blockSize)}
      </td>
      <td data-label="Step" class="end mono">
        {digits(step)}
      </td>
      <td data-label="Used">
        <Used sequence={sequence} />
      </td>
      <td data-label="Ids/s" class="end mono">
        {rate === undefined ? '…' : perSecond(rate)}
      </td>
      <td data-label="Runs out">
        <ForecastText forecast={forecastOf(sequence, rate, Date.now())} />
      </td>
      <td class="actions">
        <a class="button quiet" href={hrefOf('mint', name)} aria-label={`Mint from ${name}`}>
          Mint
        </a>
        <Button look="quiet" icon="edit" label={`Alter ${name}`} onClick={() => onAlter(sequence)} />
        <Button look="quiet" icon="remove" label={`Remove ${name}`} onClick={() => onRemove(sequence)} />
      </td>
    </tr>
  );
}

function Used({ sequence }: { sequence: SequenceJson }) {
  const { used, total, share } = usageOf(sequence);
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
