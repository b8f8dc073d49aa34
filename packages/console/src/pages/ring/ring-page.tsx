import { useMemo, useState } from 'preact/hooks';
import { sentenceOf } from '../../api/errors.js';
import { api } from '../../api/routes.js';
import { placeKeys, readNodes } from '../../lib/ring-shares.js';
import { EmptyState, Loading, RequestError } from '../../ui/feedback.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { usePolling } from '../../ui/use-polling.js';
import { ConfigForm } from './config-form.js';
import { PlanChange } from './plan-change.js';
import styles from './ring.module.css';
import { RingChart } from './ring-chart.js';
import { ServerRing } from './server-ring.js';
import { ShareTable } from './share-table.js';

const INTERVAL = 2000;

/** The shards of the server; or those of a config that the user pastes, if the server has none. */
export function RingPage() {
  const { data, error, isStale } = usePolling('ring', api.ring, INTERVAL);
  const isServers = data !== undefined && data.file !== null;
  return (
    <Page
      title="Ring"
      lead={
        isServers
          ? 'The shards of sharded keys: whether they answer, what they hold, and what a change would move.'
          : 'The share of the keys on each node of a shard config. The config stays in this page and is never sent.'
      }
      isStale={isServers && isStale}
    >
      <RequestError error={error} />
      {data === undefined && error === undefined && <Loading what="the shards" lines={4} />}
      {isServers && <ServerRing ring={data} />}
      {!isServers && (data !== undefined || error !== undefined) && <PastedRing />}
    </Page>
  );
}

/** The nodes of a config that the user pastes. */
function PastedRing() {
  const [text, setText] = useState('');
  const { nodes, placement, problem } = useMemo(() => read(text), [text]);
  return (
    <>
      <div class={styles.layout}>
        <ConfigForm text={text} problem={problem} onText={setText} />
        {placement === undefined ? (
          <EmptyState title="No ring yet">
            <p>
              This server was started without <code>--shards</code>. Paste a shard config, load it from a
              file, or start with the example.
            </p>
          </EmptyState>
        ) : (
          <Panel title={`${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`}>
            <div class={styles.result}>
              <RingChart shares={placement.nodes} />
              <ShareTable nodes={nodes} shares={placement.nodes} />
            </div>
          </Panel>
        )}
      </div>
      {placement !== undefined && <PlanChange nodes={nodes} before={placement} file="shards.json" />}
    </>
  );
}

function read(text: string) {
  if (text.trim() === '') return { nodes: [], placement: undefined, problem: undefined };
  try {
    const nodes = readNodes(text);
    return { nodes, placement: placeKeys(nodes), problem: undefined };
  } catch (error) {
    return { nodes: [], placement: undefined, problem: sentenceOf(error) };
  }
}
