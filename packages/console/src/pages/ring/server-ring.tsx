import { useMemo } from 'preact/hooks';
import type { RingJson } from '../../api/types.js';
import { placeKeys } from '../../lib/ring-shares.js';
import { visibleText } from '../../lib/visible-text.js';
import { Notice } from '../../ui/feedback.js';
import { Panel } from '../../ui/panel.js';
import { PlanChange } from './plan-change.js';
import { ReshardingPanel } from './resharding-panel.js';
import styles from './ring.module.css';
import { RingChart } from './ring-chart.js';
import { ShardTable } from './shard-table.js';

/** The shards of the server, a resharding of them, and a plan for the next one. */
export function ServerRing({ ring: { file, isCluster, nodes, resharding } }: { ring: RingJson }) {
  const shape = JSON.stringify(nodes.map(({ ringName, weight }) => [ringName, weight]));
  // `shape` stands for the nodes, which are new objects in each response.
  const placement = useMemo(() => (isCluster ? undefined : placeKeys(nodes)), [isCluster, shape]);
  const silent = nodes.filter(({ error }) => error !== null);
  const elsewhere = nodes.filter(({ minting }) => minting === 'closed' || minting === 'foreign');
  const isOver = resharding?.phase === 'done' || resharding?.phase === 'aborted';
  return (
    <>
      {silent.map(({ address, error }) => (
        <Notice key={address}>{visibleText(error ?? '')}</Notice>
      ))}
      {elsewhere.length > 0 && (
        <Notice>
          These nodes mint for another config: {elsewhere.map(({ name }) => visibleText(name)).join(', ')}.
          This server mints no keys until it is started with the config that <code>idsmith reshard</code> has
          moved to.
        </Notice>
      )}
      {resharding !== null && !isOver && <ReshardingPanel resharding={resharding} />}
      <Panel title={`Shards of this server (${visibleText(file ?? '')})`}>
        <div class={placement && `${styles.result} ${styles.shards}`}>
          {placement && <RingChart shares={placement.nodes} />}
          <ShardTable nodes={nodes} placement={placement} />
        </div>
        <p class="note">
          {isCluster
            ? 'A Redis Cluster is one node here: it places keys by its own slots.'
            : 'Clock: ahead of the clock of this server. Share: by the ring, whatever is stored now.'}
        </p>
      </Panel>
      {placement && <PlanChange nodes={nodes} before={placement} file={file ?? ''} />}
      {resharding !== null && isOver && <ReshardingPanel resharding={resharding} />}
    </>
  );
}
