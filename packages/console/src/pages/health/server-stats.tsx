import { duration, megabytes, perSecond } from '../../lib/format.js';
import { gauge, type MetricsSnapshot, type Point } from '../../lib/metrics-snapshot.js';
import { visibleText } from '../../lib/visible-text.js';
import { Stat, Stats } from '../../ui/stat.js';

interface Props {
  readonly snapshot: MetricsSnapshot;
  readonly point: Point | undefined;
  /** True if the numbers are old. Nobody knows then whether a lease is still active. */
  readonly isStale: boolean;
}

/** The current numbers of the server. */
export function ServerStats({ snapshot, point, isStale }: Props) {
  const minted = point && Object.values(point.minted).reduce((sum, rate) => sum + rate, 0);
  const memory = gauge(snapshot, 'process_resident_memory_bytes');
  const delay = gauge(snapshot, 'idsmith_event_loop_delay_seconds', { quantile: '0.99' });
  const leases = snapshot.samples.filter(({ name }) => name === 'idsmith_lease_active');
  return (
    <Stats>
      <Stat label="Ids per second">{minted === undefined ? '…' : perSecond(minted)}</Stat>
      <Stat label="Waiting for the store" note="requests">
        {gauge(snapshot, 'idsmith_requests_in_flight') ?? '—'}
      </Stat>
      <Stat label="Event loop delay" note="99th percentile">
        {delay === undefined ? '—' : duration(delay)}
      </Stat>
      <Stat label="Memory">{memory === undefined ? '—' : megabytes(memory)}</Stat>
      {leases.map(({ labels, value }) => {
        const left = gauge(snapshot, 'idsmith_lease_fence_seconds', labels) ?? 0;
        const [family = '', namespace = ''] = [
          labels.generator ?? labels.family,
          visibleText(labels.namespace ?? ''),
        ];
        const isActive = value === 1;
        return (
          <Stat
            key={`${family} ${namespace}`}
            label={`Lease, ${family}`}
            note={isActive && !isStale ? `${Math.ceil(left)} s until the fence` : `namespace ${namespace}`}
          >
            {isStale ? (
              <span class="muted">unknown</span>
            ) : (
              <span class={isActive ? 'good-text' : 'bad-text'}>{isActive ? 'active' : 'none'}</span>
            )}
          </Stat>
        );
      })}
    </Stats>
  );
}
