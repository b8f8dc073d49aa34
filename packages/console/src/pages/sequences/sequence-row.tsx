import type { SequenceJson } from '../../api/types.js';
import { digits, percent, perSecond, short } from '../../lib/format.js';
import { forecastOf, rateOf, type UsageSample } from '../../lib/sequence-rate.js';
import { isOpenEnded, readUsage, type Usage } from '../../lib/sequence-usage.js';
import { visibleText } from '../../lib/visible-text.js';
import { hrefOf } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Meter } from '../../ui/meter.js';
import { Name } from '../../ui/name.js';
import { ForecastText } from './forecast-text.js';
import styles from './sequence-row.module.css';

interface Props {
  readonly sequence: SequenceJson;
  readonly samples: readonly UsageSample[] | undefined;
  /** The reason why this user cannot alter or remove sequences. */
  readonly refusal: string | undefined;
  readonly onAlter: (sequence: SequenceJson) => void;
  readonly onRemove: (sequence: SequenceJson) => void;
}

/** A sequence with its usage, rate and forecast. */
export function SequenceRow({ sequence, samples, refusal, onAlter, onRemove }: Props) {
  const { name, next, blockSize, step, cycle, exhausted } = sequence;
  const usage = readUsage(sequence);
  const rate = rateOf(samples);
  const shown = visibleText(name);
  return (
    <tr>
      <th scope="row" data-label="Name">
        <Name text={name} /> {cycle && <span class="badge">cycle</span>}
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
      {usage === undefined ? (
        <td data-label="Used" colSpan={3} class="warn-text">
          The row of this sequence makes no sense, so its usage is not known.
        </td>
      ) : (
        <>
          <td data-label="Used">
            <Used sequence={sequence} usage={usage} />
          </td>
          <td data-label="Ids/s" class="end mono">
            {rate === undefined ? <span class="muted">measuring</span> : perSecond(rate)}
          </td>
          <td data-label="Runs out">
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
