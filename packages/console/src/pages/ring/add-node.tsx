import type { ShardNode } from '@idsmith/shard/ring';
import { useState } from 'preact/hooks';
import { WHOLE_FORM } from '../../lib/field-errors.js';
import { type Placement, placeKeys } from '../../lib/key-placement.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/field.js';
import { Notice } from '../../ui/notice.js';
import { Panel } from '../../ui/panel.js';
import { useSubmit } from '../../ui/use-submit.js';
import { MoveTable } from './move-table.js';
import { newNode } from './new-node.js';

interface Props {
  readonly nodes: readonly ShardNode[];
  readonly before: Placement;
}

/** Calculates the keys that an additional node would move. */
export function AddNode({ nodes, before }: Props) {
  const [host, setHost] = useState('');
  const [port, setPort] = useState('6379');
  const [weight, setWeight] = useState('1');
  const [result, setResult] = useState<{ name: string; before: Placement; after: Placement }>();

  const { errors, isBusy, submit } = useSubmit([], async () => {
    const node = newNode({ host, port, weight }, nodes);
    setResult({ name: node.ringName, before, after: placeKeys([...nodes, node]) });
  });

  return (
    <Panel title="Effect of adding a node">
      <form class="row" onSubmit={submit} noValidate>
        <TextField label="Host" value={host} onInput={setHost} placeholder="10.0.0.4" error={errors.host} />
        <TextField label="Port" value={port} onInput={setPort} error={errors.port} isNumber />
        <TextField label="Weight" value={weight} onInput={setWeight} error={errors.weight} isNumber />
        <Button look="primary" submit isBusy={isBusy}>
          Calculate
        </Button>
      </form>
      {errors[WHOLE_FORM] && <Notice>{errors[WHOLE_FORM]}</Notice>}
      {/* Hidden after a change of the config, which the result does not know. */}
      {result !== undefined && result.before === before && <MoveTable {...result} />}
    </Panel>
  );
}
