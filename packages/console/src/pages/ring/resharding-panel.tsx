import type { ReshardingJson } from '../../api/types.js';
import { digits, percent, perSecond, span } from '../../lib/format.js';
import { visibleText } from '../../lib/visible-text.js';
import { Notice } from '../../ui/feedback.js';
import { Meter } from '../../ui/meter.js';
import { Panel } from '../../ui/panel.js';
import { Stat, Stats } from '../../ui/stat.js';

/** A run that has said nothing for so long has probably ended, ms. */
const SILENT = 15_000;

const PHASES: Readonly<Record<ReshardingJson['phase'], string>> = {
  preparing: 'about to begin',
  moving: 'keys go to the new nodes',
  done: 'finished',
  stopping: 'being given up',
  returning: 'given up: keys go back',
  aborted: 'given up, and all keys are back',
};

/** The resharding of the shards, with its progress. */
export function ReshardingPanel({ resharding: { phase, about, progress } }: { resharding: ReshardingJson }) {
  const isOver = phase === 'done' || phase === 'aborted';
  const share = progress === null ? 0 : Math.min(1, progress.scanned / Math.max(1, progress.total));
  return (
    <Panel
      title={isOver ? 'Last resharding' : 'Resharding'}
      actions={<span class="badge">{PHASES[phase]}</span>}
    >
      <p class="mono">{visibleText(about)}</p>
      {!isOver && progress !== null && (
        <>
          <Meter share={share} label={`${percent(share)} of the keys were looked at`} />
          <Stats>
            <Stat label="Keys moved">{digits(progress.moved)}</Stat>
            <Stat label="Looked at" note={`of about ${digits(progress.total)}`}>
              {percent(share)}
            </Stat>
            <Stat label="Keys a second">{perSecond(progress.rate)}</Stat>
            <Stat label="Time left">
              {progress.left === null ? '—' : `about ${span(progress.left * 1000)}`}
            </Stat>
          </Stats>
        </>
      )}
      {!isOver && (progress === null || progress.age > SILENT) && (
        <Notice look="info">
          {progress === null
            ? 'No run has reported progress yet.'
            : `No run has reported progress for ${span(progress.age)}.`}{' '}
          If none is under way, run the same <code>idsmith reshard</code> command again. It goes on where the
          last one ended.
        </Notice>
      )}
    </Panel>
  );
}
