import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { KeyMover } from '../../../../src/shard/reshard/move/key-mover.ts';
import { beginReshard, finishReshard, stopReshard } from '../../../../src/shard/reshard/move/phase.ts';
import type { NodeConnection } from '../../../../src/shard/reshard/node-connection.ts';
import { TwoNodeReshard } from '../two-node-reshard.ts';
import { nameOf, ScriptedNode, StepLog } from './scripted-node.ts';
import { MOVE_REPLIES, PHASE_REPLIES } from './usual-replies.ts';

let nodes: TwoNodeReshard | undefined;
afterAll(() => nodes?.stop());

/** A reply without what differs from server to server: numbers of movers, digests and descriptions. */
const plain = (name: string, reply: readonly unknown[]) =>
  reply.map((part, i) => {
    if (typeof part === 'number') return /KEYS$/.test(name) && name !== 'TAKE_KEYS' ? 'number' : part;
    if (i === 0 && /^(CLAIM|TAKE)_KEYS$/.test(name))
      return String(part).replace(/^.*-(\d)\.\d+$/, '$1.number');
    if (i === 1 && name in PHASE_REPLIES) return 'about';
    const bytes = typeof part === 'string' ? new TextEncoder().encode(part) : (part as Uint8Array);
    return new TextDecoder('latin1').decode(bytes).replace(/\b[0-9a-f]{40}\b/, 'digest');
  });

await describeWith(['redis'], 'The replies of scripted nodes', () => {
  let two: TwoNodeReshard;

  beforeAll(async () => {
    nodes ??= await TwoNodeReshard.start();
    two = nodes;
  });

  /** Lets a real node and a scripted one answer the same, and notes both answers. */
  function comparing(node: NodeConnection, answers: [string, unknown[], unknown[]][]): NodeConnection {
    const run: NodeConnection['run'] = async (operation, script, keys, args = []) => {
      const name = nameOf(script);
      const real = await node.run(operation, script, keys, args);
      if (!(name in PHASE_REPLIES) && !(name in MOVE_REPLIES)) return real;
      const scripted = new ScriptedNode(new StepLog(), 'x', { ...PHASE_REPLIES, ...MOVE_REPLIES });
      const given = args.map((arg, i) => (i === 3 && name in MOVE_REPLIES ? 'a,b' : String(arg)));
      answers.push([name, plain(name, real), plain(name, await scripted.run('', script, keys, given))]);
      return real;
    };
    return new Proxy(node, {
      get(of, field) {
        if (field === 'run') return run;
        const value = Reflect.get(of, field, of);
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
  }

  it('are those of a real Redis', async () => {
    const answers: [string, unknown[], unknown[]][] = [];
    const [source, target] = [two.change.source, two.change.target].map((node) =>
      comparing(node, answers),
    ) as [NodeConnection, NodeConnection];
    const context = Object.create(two.context, { nodes: { value: [target, source] } });
    await two.old.mset('a', '1', 'b', '22');
    const { round } = await beginReshard(context, undefined);
    const move = (mover: KeyMover) => mover.move({ source, target }, ['a', 'b']);
    expect(await move(new KeyMover(context.reshardId, { round }))).toMatchObject({ keys: 2 });
    await finishReshard(context, round);
    await Promise.all([two.old.flushall(), two.next.flushall()]);
    await beginReshard(context, undefined);
    await stopReshard(context, undefined);
    expect([...new Set(answers.map(([name]) => name))].sort()).toEqual([
      ...['BEGIN_RESHARD', 'CHECK_STATE', 'CLAIM_KEYS', 'DROP_KEYS', 'FINISH_RESHARD', 'PREPARE_RESHARD'],
      ...['PUT_KEYS', 'SETTLE_KEYS', 'STOP_RESHARD', 'TAKE_KEYS'],
    ]);
    for (const [name, real, scripted] of answers) expect(scripted, name).toEqual(real);
  });
});
