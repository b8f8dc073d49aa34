import { useState } from 'preact/hooks';
import { refreshAll } from '../../api/connection.js';
import { api } from '../../api/routes.js';
import type { ForecastJson, HistoryJson, SequenceJson, Span } from '../../api/types.js';
import { day, digits, percent, perSecond, span } from '../../lib/format.js';
import { type RatePoint, rateNow, ratesOf } from '../../lib/history-points.js';
import { parseMetrics } from '../../lib/prometheus.js';
import { idsLeft, readUsage } from '../../lib/sequence-usage.js';
import { shortName } from '../../lib/visible-text.js';
import { hrefOf } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Chart } from '../../ui/chart.js';
import { Choice } from '../../ui/choice.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Loading, Notice, RequestError } from '../../ui/feedback.js';
import { Breakable } from '../../ui/name.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import type { ChartSeries } from '../../ui/plot.js';
import { Stat, Stats } from '../../ui/stat.js';
import { showToast } from '../../ui/toast.js';
import { usePolling } from '../../ui/use-polling.js';
import { useMissingScope } from '../../ui/use-server.js';
import { RemoveDialog } from './remove-dialog.js';
import { SequenceForm } from './sequence-form.js';
import { type Language, snippetsOf } from './snippets.js';

const INTERVAL = 2000;
const HISTORY_INTERVAL = 5000;

/** One sequence: its supply, rate and forecast, what was refused, and its definition. */
export function SequencePage({ name }: { name: string }) {
  const [open, setOpen] = useState<'alter' | 'remove'>();
  const { data, error, isStale } = usePolling(
    `sequence ${name}`,
    (signal) => api.sequence(name, signal),
    INTERVAL,
  );
  const refusals = useRefusals(name);
  const refusal = useMissingScope('admin');
  const close = () => setOpen(undefined);
  const done = (sentence: string) => {
    close();
    showToast(sentence);
    if (open === 'remove') location.hash = hrefOf('sequences');
    refreshAll();
  };
  return (
    <Page
      title={shortName(name)}
      lead="A sequence: what is left of it, how fast it is used, and when it ends."
      isStale={isStale}
      actions={
        <>
          <a class="button plain" href={hrefOf('mint', name)}>
            Mint
          </a>
          <Button
            icon="edit"
            refusal={refusal}
            disabled={data === undefined}
            onClick={() => setOpen('alter')}
          >
            Alter or advance
          </Button>
          <Button
            icon="remove"
            refusal={refusal}
            disabled={data === undefined}
            onClick={() => setOpen('remove')}
          >
            Remove
          </Button>
        </>
      }
    >
      <p>
        <a href={hrefOf('sequences')}>All sequences</a>
      </p>
      <RequestError error={error} />
      {data === undefined ? (
        error === undefined && <Loading what="the sequence" lines={6} />
      ) : (
        <>
          <ExhaustedNotice sequence={data} />
          <Supply sequence={data} refusals={refusals} />
          <Rates name={name} />
          <div class="columns">
            <Definition sequence={data} />
            <Snippets name={name} />
          </div>
        </>
      )}
      {open === 'alter' && data && <SequenceForm sequence={data} onDone={done} onClose={close} />}
      {open === 'remove' && <RemoveDialog name={name} onDone={done} onClose={close} />}
    </Page>
  );
}

/** The requests for ids of this sequence that were refused since the start of the server. */
function useRefusals(name: string): number | undefined {
  const { data } = usePolling(`refusals ${name}`, api.metrics, HISTORY_INTERVAL);
  if (data === undefined) return undefined;
  return parseMetrics(data)
    .filter((sample) => sample.name === 'idsmith_sequence_refusals_total' && sample.labels.sequence === name)
    .reduce((sum, { value }) => sum + value, 0);
}

function ExhaustedNotice({ sequence: { exhausted, stranded = '0', blockSize } }: { sequence: SequenceJson }) {
  if (!exhausted) return null;
  return (
    <Notice>
      <strong>This sequence is exhausted: every request for its ids is refused.</strong>{' '}
      {stranded === '0'
        ? 'Raise its highest id to go on.'
        : `${digits(stranded)} ids are left, and a block needs ${digits(blockSize)}: lower the block size to reach them, or raise the highest id.`}
    </Notice>
  );
}

function Supply({ sequence, refusals }: { sequence: SequenceJson; refusals: number | undefined }) {
  const { remaining, exhausted, next, cycle, forecast, handedOut } = sequence;
  const usage = readUsage(sequence);
  return (
    <Stats>
      <Stat label="State">
        <span class={exhausted ? 'bad-text' : 'good-text'}>
          {exhausted ? 'exhausted' : cycle ? 'in a cycle' : 'open'}
        </span>
      </Stat>
      <Stat label="Next block begins at">{exhausted && !sequence.stranded ? '—' : digits(next)}</Stat>
      <Stat label="Ids left" note={usage === undefined ? '' : `${percent(usage.share)} used`}>
        <span title={remaining == null ? undefined : digits(remaining)}>{idsLeft(sequence)}</span>
      </Stat>
      <Stat label="Runs out" note={<Confidence forecast={forecast} />}>
        <End forecast={forecast} cycle={cycle} />
      </Stat>
      <Stat label="Handed out here" note="since the start of this server">
        {digits(handedOut)}
      </Stat>
      <Stat label="Refused here" note="requests, since the start">
        <span class={refusals ? 'bad-text' : undefined}>
          {refusals === undefined ? '…' : digits(refusals)}
        </span>
      </Stat>
    </Stats>
  );
}

function End({ forecast, cycle }: { forecast: ForecastJson | null | undefined; cycle: boolean }) {
  if (cycle) return <>never</>;
  const seconds = forecast?.seconds ?? null;
  if (seconds === null) return <span class="muted">not in use</span>;
  if (seconds === 0) return <span class="bad-text">now</span>;
  // Dates of JavaScript end in the year 275760.
  return <>{seconds > 1e11 ? `in ${span(seconds * 1000)}` : day(Date.now() + seconds * 1000)}</>;
}

function Confidence({ forecast }: { forecast: ForecastJson | null | undefined }) {
  if (!forecast || forecast.seconds === null || forecast.seconds === 0) return null;
  return (
    <>
      {perSecond(forecast.rate)} ids/s over{' '}
      {forecast.over < 60 ? 'less than a minute' : span(forecast.over * 1000)}; confidence{' '}
      {forecast.confidence}
    </>
  );
}

const SERIES: readonly ChartSeries<RatePoint>[] = [
  { label: 'left the store, for everybody', colour: 'kind-time', read: ({ values }) => values.taken ?? null },
  { label: 'handed out here', colour: 'kind-counter', read: ({ values }) => values.handedOut ?? null },
];

const NONE: HistoryJson = { since: null, series: {} };

/** The rates of the last hour or day. What left the store and was not handed out is at hand somewhere, or wasted. */
function Rates({ name }: { name: string }) {
  const [length, setLength] = useState<Span>('hour');
  const { data = NONE } = usePolling(
    `history ${length} ${name}`,
    (signal) => api.sequenceHistory(name, length, signal),
    HISTORY_INTERVAL,
  );
  const points = ratesOf(data);
  const [taken, handedOut] = [
    rateNow(data, 'taken', points.length),
    rateNow(data, 'handedOut', points.length),
  ];
  return (
    <>
      <Chart
        title="Ids per second"
        points={points}
        series={SERIES}
        format={perSecond}
        longest={length === 'hour' ? 3600 : 86_400}
        actions={
          <Choice
            legend="Time"
            isQuiet
            value={length}
            options={[
              ['hour', 'Hour'],
              ['day', 'Day'],
            ]}
            onChange={setLength}
          />
        }
      />
      {taken !== undefined && handedOut !== undefined && taken > 0 && (
        <p class="note">
          Of the ids that left the store in this time, this server handed out{' '}
          {percent(Math.min(1, handedOut / taken))}. The others went to other processes, are at hand, or are
          gaps.
        </p>
      )}
    </>
  );
}

function Definition({ sequence }: { sequence: SequenceJson }) {
  const { start, blockSize, step, min, max, cycle, stranded } = sequence;
  const fields = {
    start: start === null ? 'unknown: another program defined it' : digits(start),
    'block size': digits(blockSize),
    step: digits(step),
    'lowest id': digits(min),
    'highest id': digits(max),
    'at the end': cycle ? 'starts over' : 'refuses',
    ...(stranded !== undefined && { 'ids below one block': digits(stranded) }),
  };
  return (
    <Panel title="Definition">
      <dl class="fields">
        {Object.entries(fields).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd class="mono">
              <Breakable text={value} after={','} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Snippets({ name }: { name: string }) {
  const [language, setLanguage] = useState<Language>('curl');
  const text = snippetsOf(name, new URL('.', location.href).href)[language];
  return (
    <Panel title="Use it" actions={<CopyButton text={text} what="the snippet" />}>
      <Choice
        legend="Language"
        isQuiet
        value={language}
        options={[
          ['curl', 'curl'],
          ['typescript', 'TypeScript'],
          ['sql', 'SQL'],
        ]}
        onChange={setLanguage}
      />
      <pre class="snippet">{text}</pre>
    </Panel>
  );
}
