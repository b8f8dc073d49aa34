import type { ShardNode } from '@idsmith/shard/ring';
import { useState } from 'preact/hooks';
import { WHOLE_FORM } from '../../lib/field-errors.js';
import { placeKeys, type SampleOwners } from '../../lib/ring-shares.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/choice.js';
import { Notice } from '../../ui/feedback.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Panel } from '../../ui/panel.js';
import { useSubmit } from '../../ui/use-submit.js';
import { MoveTable } from './move-table.js';
import { newNode, readWeight } from './new-node.js';
import { PlanSteps } from './plan-steps.js';

/** A node, as far as a plan needs it. */
type PlannedNode = Pick<ShardNode, 'name' | 'ringName' | 'address' | 'weight'>;

interface Props {
  readonly nodes: readonly PlannedNode[];
  readonly before: SampleOwners;
  /** The file with the config of the nodes. */
  readonly file: string;
}

const CHANGES = [
  ['add', 'Add a node'],
  ['remove', 'Remove a node'],
  ['weight', 'Change a weight'],
] as const;

type Change = (typeof CHANGES)[number][0];

interface Result {
  readonly name: string;
  readonly isNew: boolean;
  readonly before: SampleOwners;
  readonly after: SampleOwners;
  readonly edit: readonly [action: string, entry: string];
}

/** Calculates the keys that a change of the ring would move, and tells how to make it. */
export function PlanChange({ nodes, before, file }: Props) {
  const [change, setChange] = useState<Change>('add');
  const [host, setHost] = useState('');
  const [port, setPort] = useState('6379');
  const [weight, setWeight] = useState('1');
  const [chosen, setChosen] = useState('');
  const [result, setResult] = useState<Result>();
  const node = nodes.find(({ ringName }) => ringName === chosen) ?? nodes[0];
  const choose = (next: Change) => {
    setChange(next);
    setResult(undefined);
  };

  const { errors, isBusy, submit } = useSubmit([], async () => {
    const planned = planOf();
    const placed = { before, after: placeKeys(planned.nodes) };
    setResult({ name: planned.name, isNew: change === 'add', edit: planned.edit, ...placed });
  });

  function planOf() {
    if (change === 'add') {
      const added = newNode({ host, port, weight }, nodes);
      const entry = `"${freeName(nodes)}": ["${port.trim()}", ${JSON.stringify(host.trim())}, ${added.weight}]`;
      return { name: added.ringName, nodes: [...nodes, added], edit: ['add', entry] as const };
    }
    const { name, ringName } = node as PlannedNode;
    const others = nodes.filter((other) => other !== node);
    if (change === 'remove')
      return { name: ringName, nodes: others, edit: ['remove', JSON.stringify(name)] as const };
    const next = readWeight(weight);
    return {
      name: ringName,
      nodes: nodes.map((other) => (other === node ? { ...other, weight: next } : other)),
      edit: [`set the weight to ${next} of`, JSON.stringify(name)] as const,
    };
  }

  return (
    <>
      <Panel title="Plan a change">
        <Choice legend="Change" value={change} options={CHANGES} onChange={choose} isQuiet />
        <form class="row" onSubmit={submit} noValidate>
          {change === 'add' ? (
            <>
              <TextField
                label="Host"
                value={host}
                onInput={setHost}
                placeholder="10.0.0.4"
                error={errors.host}
              />
              <TextField label="Port" value={port} onInput={setPort} error={errors.port} isNumber />
            </>
          ) : (
            <SelectField
              label="Node"
              value={node?.ringName ?? ''}
              options={nodes.map(({ ringName, name }) => [ringName, `${name} (${ringName})`] as const)}
              onChange={setChosen}
            />
          )}
          {change !== 'remove' && (
            <TextField label="Weight" value={weight} onInput={setWeight} error={errors.weight} isNumber />
          )}
          <Button look="primary" submit isBusy={isBusy}>
            Calculate
          </Button>
        </form>
        {errors[WHOLE_FORM] && <Notice>{errors[WHOLE_FORM]}</Notice>}
        {/* Hidden after a change of the config, which the result does not know. */}
        {result !== undefined && result.before === before && <MoveTable {...result} />}
      </Panel>
      {result !== undefined && result.before === before && <PlanSteps file={file} edit={result.edit} />}
    </>
  );
}

/** A name that no node has: the lowest number. */
function freeName(nodes: readonly PlannedNode[]): string {
  for (let i = 0; ; i++) if (!nodes.some(({ name }) => name === String(i))) return String(i);
}
