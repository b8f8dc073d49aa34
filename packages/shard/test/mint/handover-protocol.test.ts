import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { beforeEach, describe, expect, it } from 'vitest';
import { InvalidOptionError, StoreError } from '../../../idsmith/src/errors.ts';
import { type HandOverOptions, handOver, releaseNodes } from '../../src/mint/handover.ts';
import { type NodeSequence, NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { openSequences } from '../../src/mint/open-sequences.ts';
import { errorOf, ModelNodes, SKEW } from './model-nodes.ts';

const NOW = 1_000_000;
/** The lead and the skew. */
const REACH = 1000 + SKEW;
const address = ModelNodes.addressOf;

let nodes: ModelNodes;
/** The nodes of the old set and of the next one. They have node 1 in common. */
let [old, next]: [NodeSequence[], NodeSequence[]] = [[], []];

beforeEach(async () => {
  nodes = new ModelNodes(5, NOW);
  [old, next] = [nodes.set([0, 1]), nodes.set([1, 2])];
  await openSequences(old);
  nodes.operations();
});

const nameOf = ([first]: readonly NodeSequence[]) => first!.nodeSet.fingerprint;

/** The states of nodes, as `state owner generation`. */
const states = (...numbers: number[]) =>
  numbers.map((number) => {
    const hash = nodes.hash(number);
    const owner = [old, next].findIndex((set) => nameOf(set) === hash?.ring);
    return hash && `${hash.state} ${['old', 'next'][owner] ?? 'other'} ${hash.generation}`;
  });

const refusal = (from: NodeSequence[], to: NodeSequence[], options?: HandOverOptions) =>
  errorOf(handOver(from, to, options)) as Promise<NodeSetConflictError>;

describe('A handover', () => {
  it('reserves new nodes, closes all old ones, sees that they are closed, and opens those that both sets have first', async () => {
    await handOver(old, next);
    expect(states(0, 1, 2)).toEqual(['closed old 1', 'open next 2', 'open next 2']);
    expect(nodes.hash(0)).toMatchObject({ next: nameOf(next) });
    const all = [0, 1].map((i) => `${i} reading the sequence`);
    expect(nodes.operations()).toEqual([
      ...all,
      '1 reading the sequence',
      '2 reading the sequence',
      '2 handing the sequence over',
      '0 closing the sequence',
      '1 closing the sequence',
      ...all,
      '1 handing the sequence over',
      '2 handing the sequence over',
    ]);
  });

  it('waits for the common nodes before it opens the others', async () => {
    const order: string[] = [];
    nodes.onQuestion = async ({ number, operation }) => {
      if (!operation.startsWith('handing') || nodes.hash(number)?.state === undefined) return;
      if (number === 1) for (let turn = 0; turn < 20; turn++) await null;
      order.push(String(number));
    };
    await handOver(old, next);
    expect(order).toEqual(['1', '2']);
    order.length = 0;
    // The one that both have comes first also where it is not the first of its set.
    await handOver(next, nodes.set([3, 2]));
    expect(order).toEqual(['2', '3']);
  });

  it('back and forth takes a later generation each time', async () => {
    await handOver(old, next);
    await handOver(next, old);
    expect(states(0, 1, 2)).toEqual(['open old 3', 'open old 3', 'closed next 2']);
    await handOver(old, next);
    expect(states(0, 1, 2)).toEqual(['closed old 3', 'open next 4', 'open next 4']);
  });

  it('does nothing between the same nodes, or without any', async () => {
    await handOver(old, nodes.set([0, 1]));
    await handOver([], next);
    await handOver(old, []);
    expect(nodes.operations()).toEqual([]);
  });

  it('keeps the epoch', async () => {
    const error = await refusal(old, nodes.set([1, 2], { epoch: 5 }));
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.message).toContain('not become 5: keys would repeat');
    expect(nodes.operations()).toEqual([]);
  });

  it('tells of itself when it is over', async () => {
    const told: unknown[] = [];
    const listen = (message: unknown) => void told.push(message);
    subscribe('idsmith:key', listen);
    await handOver(old, next);
    unsubscribe('idsmith:key', listen);
    expect(told).toEqual([
      {
        event: 'handed-over',
        generation: 2,
        from: `${address(0)}, ${address(1)}`,
        to: `${address(1)}, ${address(2)}`,
      },
    ]);
  });
});

describe('The node set that takes over', () => {
  it('begins beyond the last key of all old nodes', async () => {
    nodes.change(0, { ms: NOW + 7000 });
    nodes.change(1, { ms: NOW + 3000 });
    await handOver(old, next);
    expect([nodes.hash(1)!.from, nodes.hash(2)!.from]).toEqual([NOW + 7000, NOW + 7000]);
  });

  it('begins right there, whatever the clocks say, where no node is lost', async () => {
    nodes.clocks.fill(NOW + 10_000);
    await handOver(old, next);
    expect(nodes.hash(1)!.from).toBe(NOW + REACH);
  });

  it('begins beyond what a lost node may have minted, by the clocks of the others', async () => {
    nodes.change(1, { ms: NOW + 10 });
    nodes.silent.add(0);
    expect(await refusal(old, next)).toBeInstanceOf(StoreError);
    await handOver(old, next, { gone: [address(0)] });
    expect([nodes.hash(1)!.from, nodes.hash(2)!.from]).toEqual([NOW + REACH, NOW + REACH]);
  });

  it('begins beyond the keys of the others where these are later than what a lost node may have minted', async () => {
    nodes.change(1, { ms: NOW + 90_000 });
    await handOver(old, next, { gone: [address(0)] });
    expect(nodes.hash(2)!.from).toBe(NOW + 90_000);
    expect(states(0)).toEqual(['open old 1']);
  });
});

describe('A handover that was interrupted', () => {
  it('starts again when an old node was opened again meanwhile, up to five times', async () => {
    const lose = (times: number) => {
      let left = times;
      nodes.onQuestion = ({ number, operation }) => {
        if (number !== 1 || operation !== 'reading the sequence' || nodes.hash(0)?.state !== 'closed') return;
        if (left-- > 0) nodes.change(0, { state: 'open' });
      };
    };
    lose(4);
    await handOver(old, next);
    expect(states(0, 1, 2)).toEqual(['closed old 1', 'open next 2', 'open next 2']);
    [old, next] = [next, nodes.set([2, 3])];
    nodes.onQuestion = ({ number, operation }) => {
      if (number === 2 && operation === 'reading the sequence' && nodes.hash(1)?.state === 'closed')
        nodes.change(1, { state: 'open' });
    };
    nodes.operations();
    expect((await refusal(old, next)).message).toContain('a node lost its sequence 5 times in a row');
    expect(nodes.operations().filter((line) => line === '1 closing the sequence')).toHaveLength(5);
    expect(nodes.hash(3)).toMatchObject({ state: 'reserved' });
  });

  it('goes on where it ended, in the same generation', async () => {
    nodes.onQuestion = ({ number, operation }) => {
      const isReserved = nodes.hash(2)?.state === 'reserved';
      if (number === 2 && isReserved && operation === 'handing the sequence over')
        throw new StoreError('cut off');
    };
    expect((await refusal(old, next)).message).toBe('cut off');
    expect(states(0, 1, 2)).toEqual(['closed old 1', 'open next 2', 'reserved next 2']);
    nodes.onQuestion = () => {};
    await handOver(old, next);
    expect(states(0, 1, 2)).toEqual(['closed old 1', 'open next 2', 'open next 2']);
    await handOver(old, next);
    expect(states(0, 1, 2)).toEqual(['closed old 1', 'open next 2', 'open next 2']);
  });

  it('goes on in the generation in which it has begun, also if the old nodes have forgotten theirs', async () => {
    await handOver(old, next);
    nodes.change(1, { generation: 5 });
    nodes.models[0]!.hash = undefined;
    nodes.models[2]!.hash = undefined;
    await handOver(old, next);
    expect(states(0, 1, 2)).toEqual(['closed old 4', 'open next 5', 'open next 5']);
  });
});

describe('A handover that meets other node sets', () => {
  it('is refused where an old node was handed over to others', async () => {
    await handOver(old, next);
    const error = await refusal(old, nodes.set([0, 3]));
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(error.message).toContain(`node ${address(0)} belongs to a third set of nodes`);
    expect(error.next).toBe(nameOf(next));
    expect(nodes.hash(3)).toBeUndefined();
  });

  it('is refused where an old node mints for others', async () => {
    const third = nodes.set([0, 4]);
    nodes.change(0, { ring: nameOf(third), nodes: 'third' });
    const error = await refusal(old, next);
    expect(error.message).toContain('belongs to a third set of nodes (third): finish that handover first');
    expect(error.next).toBe(nameOf(third));
  });

  it('is refused where a new node mints for others, and says what to do', async () => {
    await openSequences(nodes.set([2, 3]));
    const error = await refusal(old, next);
    expect(error.message).toContain(`node ${address(2)} mints keys for other nodes (`);
    expect(error.next).toBe(nameOf(nodes.set([2, 3])));
  });

  it('is refused where a new node was closed by another one meanwhile', async () => {
    nodes.onQuestion = ({ number, operation }) => {
      if (number === 1 && operation === 'handing the sequence over')
        nodes.change(1, { ring: nameOf(next), state: 'closed', generation: 5 });
    };
    const error = await refusal(old, next);
    expect(error.message).toContain(`node ${address(1)} was closed by another handover meanwhile`);
    expect(states(2)).toEqual(['reserved next 2']);
  });
});

describe('A handover to nodes of which the old set has none', () => {
  beforeEach(async () => {
    [old, next] = [nodes.set([0, 1]), nodes.set([2, 3])];
    nodes.operations();
  });

  /** The handover ends before its first step of this kind, or the first one after others. */
  async function killBefore(operation: string, after = 0): Promise<void> {
    let left = after;
    nodes.onQuestion = (question) => {
      if (question.operation === operation && left-- <= 0) throw new StoreError('killed');
    };
    expect((await refusal(old, next)).message).toBe('killed');
    nodes.onQuestion = () => {};
  }

  it('keeps processes with the new config out while nobody mints, also where a clock is 8 s behind', async () => {
    nodes.clocks[2] = nodes.clocks[3] = NOW - 8000;
    await killBefore('handing the sequence over', 2);
    expect(states(0, 1, 2, 3)).toEqual([
      'closed old 1',
      'closed old 1',
      'reserved next 2',
      'reserved next 2',
    ]);
    const error = (await errorOf(openSequences(next))) as NodeSetConflictError;
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(error.message).toContain(
      `node ${address(2)} waits for a resharding to ${address(2)}, ${address(3)}`,
    );
    await handOver(old, next);
    expect(states(2, 3)).toEqual(['open next 2', 'open next 2']);
    for (const number of [2, 3]) expect(nodes.hash(number)!.from).toBe(nodes.hash(0)!.ms);
  });

  it('lets processes with the new config go on as soon as one new node is open', async () => {
    await killBefore('handing the sequence over', 3);
    nodes.change(2, { state: 'open', from: NOW + 5000, ms: NOW + 5000 });
    await openSequences(next);
    expect(states(2, 3)).toEqual(['open next 2', 'open next 2']);
    expect(nodes.hash(3)!.from).toBe(NOW + 5000);
  });

  it('does not let them go on because of a node that is open in an earlier generation', async () => {
    await killBefore('handing the sequence over', 2);
    nodes.change(2, { state: 'open', generation: 1 });
    expect(await errorOf(openSequences(next))).toBeInstanceOf(NodeSetConflictError);
    expect(states(3)).toEqual(['reserved next 2']);
  });

  it('goes on beyond everything that the new nodes minted before, in a new generation', async () => {
    await openSequences(next);
    nodes.change(2, { ms: NOW + 7000 });
    await handOver(old, next);
    expect(states(0, 1, 2, 3)).toEqual(['closed old 1', 'closed old 1', 'open next 2', 'open next 2']);
    expect(nodes.hash(2)!.from).toBe(NOW + 7000);
  });

  it('stops new nodes that mint before, until the old ones are closed', async () => {
    await openSequences(next);
    await killBefore('closing the sequence');
    expect(states(0, 1, 2, 3)).toEqual(['open old 1', 'open old 1', 'reserved next 2', 'reserved next 2']);
    expect(await errorOf(openSequences(next))).toBeInstanceOf(NodeSetConflictError);
  });

  it('takes nodes in a new generation that took over from others before', async () => {
    await openSequences(nodes.set([4]));
    await handOver(nodes.set([4]), next);
    await handOver(old, next);
    expect(states(2, 3)).toEqual(['open next 3', 'open next 3']);
  });

  it('leaves nodes alone that wait for another one, and gives its own free', async () => {
    await killBefore('closing the sequence');
    const third = nodes.set([4]);
    await openSequences(third);
    const error = await refusal(third, nodes.set([3]));
    expect(error.message).toContain(`node ${address(3)} waits for a resharding to`);
    expect((await refusal(next, nodes.set([4]))).message).toContain(
      `node ${address(2)} waits for a resharding`,
    );
    expect(states(2, 3)).toEqual(['reserved next 2', 'reserved next 2']);
    await releaseNodes(next);
    expect(states(2, 3)).toEqual([undefined, undefined]);
  });

  it('gives nodes free that it has reserved when another one mints elsewhere', async () => {
    await openSequences(nodes.set([3]));
    expect((await refusal(old, next)).message).toContain(`node ${address(3)} mints keys for other nodes`);
    expect(states(0, 1, 2)).toEqual(['open old 1', 'open old 1', undefined]);
  });
});

describe('A handover back to nodes that know more than the old ones', () => {
  /** Minting went to the next set and the nodes of that one have lost everything since. */
  beforeEach(async () => {
    [old, next] = [nodes.set([0]), nodes.set([2, 3])];
    nodes.models[1]!.hash = undefined;
    nodes.models[0]!.hash = undefined;
    const first = nodes.set([4]);
    await openSequences(first);
    await handOver(first, old);
    await handOver(old, next);
    for (const i of [2, 3]) nodes.models[i]!.hash = undefined;
  });

  it('is refused without a change, and names the way out', async () => {
    const error = await refusal(next, old);
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(error.message).toContain(
      `node ${address(0)} has handed minting over in generation 2, and ${address(2)}, ${address(3)} knows no generation after 1.`,
    );
    expect(error.message).toContain(`(--accept-older ${address(2)},${address(3)})`);
    expect(error.next).toBe(nameOf(old));
    expect(states(0, 2, 3)).toEqual(['closed old 2', undefined, undefined]);
  });

  it('is refused unless all nodes without a sequence are accepted', async () => {
    expect(await refusal(next, old, { acceptOlder: [address(2)] })).toBeInstanceOf(NodeSetConflictError);
    await handOver(next, old, { acceptOlder: [address(3), address(2)] });
    expect(states(0, 2, 3)).toEqual(['open old 4', 'closed next 3', 'closed next 3']);
  });

  it('is refused where minting was given to others than those, accepted or not', async () => {
    nodes.change(0, { next: 'third' });
    const error = await refusal(next, old, { acceptOlder: [address(2), address(3)] });
    expect(error.message).toContain(
      'and it is the one that mints now, reshard to servers that have never minted',
    );
    expect(states(0)).toEqual(['closed old 2']);
  });

  it('is not needed where one of them knows the generation', async () => {
    await openSequences(next);
    nodes.change(2, { generation: 3 });
    await handOver(next, old);
    expect(states(0, 2, 3)).toEqual(['open old 4', 'closed next 3', 'closed next 3']);
  });

  it('from nodes that are all gone begins beyond what these may have minted', async () => {
    const gone = [address(2), address(3)];
    await handOver(next, old, { gone });
    expect(states(0, 2, 3)).toEqual(['open old 4', undefined, undefined]);
    expect(nodes.hash(0)!.from).toBe(NOW + REACH);
    // Once more does no harm.
    await handOver(next, old, { gone });
    expect(states(0, 2, 3)).toEqual(['open old 4', undefined, undefined]);
  });

  it('from nodes that are all gone is refused where minting was given to others', async () => {
    nodes.change(0, { next: 'third' });
    const error = await refusal(next, old, { gone: [address(2), address(3)] });
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(error.message).toContain(`node ${address(0)} has handed minting over to other nodes than those`);
    expect(error.next).toBe('third');
    expect(states(0)).toEqual(['closed old 2']);
  });

  it('goes on after the highest of their generations', async () => {
    [old, next] = [nodes.set([0, 1]), nodes.set([2])];
    for (const model of nodes.models) model.hash = undefined;
    await openSequences(old);
    await handOver(old, next);
    nodes.change(0, { generation: 3 });
    nodes.change(1, { generation: 6 });
    nodes.models[2]!.hash = undefined;
    expect(await refusal(next, old)).toBeInstanceOf(NodeSetConflictError);
    nodes.change(1, { next: 'third' });
    // One of them gave it to others.
    expect(await refusal(next, old, { acceptOlder: [address(2)] })).toBeInstanceOf(NodeSetConflictError);
    nodes.change(1, { next: nameOf(next) });
    await handOver(next, old, { acceptOlder: [address(2)] });
    expect(states(0, 1)).toEqual(['open old 8', 'open old 8']);
  });
});
