import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { metrics, SpanStatusCode, trace } from '@opentelemetry/api';

const CHANNELS = ['idsmith:lease', 'idsmith:sequence', 'idsmith:key', 'idsmith:store'];

/**
 * Turns the diagnostics of idsmith into metrics, spans and log lines. Returns a function that ends it.
 *
 * | instrument | attributes |
 * |---|---|
 * | counter `idsmith.events` | `idsmith.channel`, `idsmith.event`, and the subject of the event |
 * | counter `idsmith.sequence.ids` | `idsmith.sequence` |
 * | histogram `idsmith.sequence.fetch.duration`, s | `idsmith.sequence` |
 * | gauge `idsmith.lease.left`, s | `idsmith.namespace` |
 *
 * A fetch of a block is a span. A failure is a span with an exception. Spans are children of the span that is active.
 *
 * @param {{ meter?: import('@opentelemetry/api').Meter, tracer?: import('@opentelemetry/api').Tracer,
 *   log?: (line: string) => void }} [options]
 */
export function watchIdsmith({
  meter = metrics.getMeter('idsmith'),
  tracer = trace.getTracer('idsmith'),
  log = console.error,
} = {}) {
  const events = meter.createCounter('idsmith.events');
  const ids = meter.createCounter('idsmith.sequence.ids');
  const fetches = meter.createHistogram('idsmith.sequence.fetch.duration', { unit: 's' });
  const left = meter.createObservableGauge('idsmith.lease.left', { unit: 's' });
  /** The end of the window of each namespace; 0 after its lease was released. */
  const windows = new Map();
  const observe = (result) => {
    for (const [namespace, until] of windows)
      result.observe(Math.max(0, (until - Date.now()) / 1000), { 'idsmith.namespace': namespace });
  };
  left.addCallback(observe);

  function onMessage(message, channel) {
    const family = channel.replace('idsmith:', '');
    const subject = subjectOf(message);
    events.add(1, { 'idsmith.channel': channel, 'idsmith.event': message.event, ...subject });
    if (family === 'lease') followLease(message);
    if (family === 'sequence' && message.event === 'fetched') {
      ids.add(message.count, subject);
      fetches.record(message.duration / 1000, subject);
      const startTime = Date.now() - message.duration;
      tracer.startSpan('idsmith sequence fetch', { startTime, attributes: subject }).end();
    }
    if (message.error !== undefined) reportFailure(family, message, subject);
  }

  function followLease({ event, namespace, until }) {
    // A wait for a node id has no window.
    if (event === 'waiting') return;
    // Without a last 0, readers would go on to see the time that was left.
    windows.set(namespace, event === 'released' ? 0 : until);
  }

  function reportFailure(family, { event, error }, subject) {
    const span = tracer.startSpan(`idsmith ${family} ${event}`, { attributes: subject });
    span.recordException(error);
    span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
    span.end();
    log(
      JSON.stringify({ level: 'error', family, event, ...subject, code: error.code, message: error.message }),
    );
  }

  for (const channel of CHANNELS) subscribe(channel, onMessage);
  return () => {
    for (const channel of CHANNELS) unsubscribe(channel, onMessage);
    left.removeCallback(observe);
  };
}

/** The attributes that tell what an event is about. Their values are few: names of your own, never ids. */
function subjectOf({ namespace, name, store, operation, address }) {
  const subject = {
    'idsmith.namespace': namespace,
    'idsmith.sequence': name,
    'idsmith.store': store,
    'idsmith.operation': operation,
    'idsmith.node': address,
  };
  return Object.fromEntries(Object.entries(subject).filter(([, value]) => value !== undefined));
}
