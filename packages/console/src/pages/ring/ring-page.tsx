import { useMemo, useState } from 'preact/hooks';
import { sentenceOf } from '../../api/errors.js';
import { placeKeys, readNodes } from '../../lib/key-placement.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { AddNode } from './add-node.js';
import { ConfigForm } from './config-form.js';
import styles from './ring.module.css';
import { RingChart } from './ring-chart.js';
import { ShareTable } from './share-table.js';

/** The share of the keys on each node of a shard config, and the effect of an additional node. */
export function RingPage() {
  const [text, setText] = useState('');
  const { nodes, placement, problem } = useMemo(() => read(text), [text]);
  return (
    <Page
      title="Ring"
      lead="The share of the keys on each node. The config stays in this page and is never sent."
    >
      <div class={styles.layout}>
        <ConfigForm text={text} problem={problem} onText={setText} />
        {placement === undefined ? (
          <EmptyState title="No ring yet">
            <p>Paste a shard config, load it from a file, or start with the example.</p>
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
      {placement !== undefined && <AddNode nodes={nodes} before={placement} />}
    </Page>
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
