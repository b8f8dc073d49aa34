import { type AnyClient, TransitionMap } from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import { beginReshard } from '../../src/reshard/phase.ts';
import { KEY, TwoNodeReshard } from '../reshard/two-node-reshard.ts';

type Client = Record<string, (...args: unknown[]) => Promise<unknown> & Client> & AnyClient;

/** Ways to read the key that would miss it if they went to one of the nodes alone. */
const READS: Record<'ioredis' | 'redis', Record<string, (client: Client) => Promise<unknown>>> = {
  ioredis: {
    get: (client) => client.get(KEY),
    'on().get': (client) => client.on('custom', () => {}).get(KEY),
    'once().off().get': (client) =>
      client
        .once('custom', () => {})
        .off('custom', () => {})
        .get(KEY),
    call: (client) => client.call('GET', KEY),
    multi: (client) =>
      client
        .multi()
        .get(KEY)
        .exec()
        .then(([[, value]]: [unknown[]]) => value),
    pipeline: (client) =>
      client
        .pipeline([['get', KEY]])
        .exec()
        .then(([[, value]]: [unknown[]]) => value),
  },
  redis: {
    get: (client) => client.get(KEY),
    'on().get': (client) => client.on('custom', () => {}).get(KEY),
    withTypeMapping: (client) => client.withTypeMapping({}).get(KEY),
    withCommandOptions: (client) => client.withCommandOptions({}).get(KEY),
    'withCommandOptions().withTypeMapping()': (client) =>
      client.withCommandOptions({}).withTypeMapping({}).get(KEY),
    'withTypeMapping().multi()': (client) =>
      client
        .withTypeMapping({})
        .multi()
        .get(KEY)
        .exec()
        .then(([value]: unknown[]) => value),
    sendCommand: (client) => client.sendCommand(['GET', KEY]),
    multi: (client) =>
      client
        .multi()
        .get(KEY)
        .exec()
        .then(([value]: unknown[]) => value),
  },
};

/** Calls that are refused, with the name in the message. */
const REFUSED: Record<'ioredis' | 'redis', [call: (client: Client) => unknown, name: string][]> = {
  ioredis: [
    [(client) => client.duplicate(), 'duplicate'],
    [(client) => client.subscribe(KEY), 'subscribe'],
    [(client) => client.psubscribe(`${KEY}-*`), 'psubscribe'],
    [(client) => client.publish(KEY, 'text'), 'publish'],
    [(client) => client.multi().set(KEY, 1).publish(KEY, 'text'), 'publish'],
    [(client) => client.multi([['publish', KEY, 'text']]), 'publish'],
    [(client) => client.watch(KEY), 'watch'],
    [(client) => client.monitor(), 'monitor'],
    [(client) => client.blpop(KEY, 0), 'blpop'],
    [(client) => client.call('BLPOP', KEY, 0), 'BLPOP'],
    [(client) => client.dbsize(), 'dbsize'],
    [(client) => client.scanStream(), 'scanstream'],
    [(client) => client.flushall(), 'flushall'],
    [(client) => client.get('1jyVFw3501'), 'get'],
    [(client) => client.call('GET', '1jyVFw3501'), 'get'],
    [(client) => client.quit(), 'quit'],
    [(client) => client.disconnect(), 'disconnect'],
    [(client) => client.select(1), 'select'],
  ],
  redis: [
    [(client) => client.duplicate(), 'duplicate'],
    [(client) => client.withTypeMapping({}).duplicate(), 'duplicate'],
    [(client) => client.createPool(), 'createPool'],
    [(client) => client.legacy(), 'legacy'],
    [(client) => client.subscribe(KEY, () => {}), 'subscribe'],
    [(client) => client.sSubscribe(KEY, () => {}), 'sSubscribe'],
    [(client) => client.publish(KEY, 'text'), 'publish'],
    [(client) => client.multi().publish(KEY, 'text'), 'publish'],
    [(client) => client.watch(KEY), 'watch'],
    [(client) => client.blPop(KEY, 0), 'blPop'],
    [(client) => client.xRead({ key: KEY, id: '$' }, { BLOCK: 0 }), 'xRead'],
    [(client) => client.sendCommand(['BLPOP', KEY, '0']), 'BLPOP'],
    [(client) => client.dbSize(), 'dbsize'],
    [(client) => client.scanIterator(), 'scaniterator'],
    [(client) => client.get('1jyVFw3501'), 'get'],
    [(client) => client.json.get('1jyVFw3501'), 'json.get'],
    [(client) => client.destroy(), 'destroy'],
    [(client) => client.close(), 'close'],
  ],
};

describe.each(['ioredis', 'redis'] as const)('A client of %s in transition', async (driver) => {
  await describeWith(['redis'], 'of a map on two nodes', () => {
    let nodes: TwoNodeReshard;
    const maps: TransitionMap[] = [];

    beforeAll(async () => {
      nodes = await TwoNodeReshard.start();
    });
    beforeEach(() => Promise.all([nodes.old.flushall(), nodes.next.flushall()]));
    afterEach(async () => {
      await Promise.all(maps.splice(0).map((map) => map.close()));
    });
    afterAll(() => nodes?.stop());

    function transition(): TransitionMap {
      const map = new TransitionMap(...nodes.configs({ driver }));
      maps.push(map);
      return map;
    }

    it.each(Object.entries(READS[driver]))(
      'reads with %s what the key holds in each phase',
      async (_, read) => {
        const map = transition();
        const client = map.getClient(KEY);
        await nodes.old.set(KEY, 'before');
        expect(await read(client)).toBe('before');
        await beginReshard(nodes.context, undefined);
        expect(await read(client)).toBe('before');
        expect([await nodes.old.exists(KEY), await nodes.next.exists(KEY)]).toEqual([0, 1]);
        await nodes.next.set(KEY, 'after');
        expect(await read(map.getClient(KEY))).toBe('after');
      },
    );

    it.each(REFUSED[driver])('refuses %o by name', (call, name) => {
      const client = transition().getClient(KEY);
      expect(() => call(client)).toThrow(InvalidOptionError);
      expect(() => call(client)).toThrow(`${name} must not be used while keys are moved`);
    });

    it('has no way to the client of a node', () => {
      const client = transition().getClient(KEY);
      for (const name of ['_self', 'stream', 'connector', 'offlineQueue', 'then', Symbol.asyncDispose])
        expect([name, client[name]]).toEqual([name, undefined]);
      expect(() => {
        client.anything = 1;
      }).toThrow(InvalidOptionError);
    });

    it('answers ping, and says where a key is now', async () => {
      const map = transition();
      const [from, to] = nodes.servers.map(({ port }) => `127.0.0.1:${port}`);
      expect(await map.getClient(KEY).ping()).toBe('PONG');
      expect([map.whereIs(KEY), map.addressOf(KEY)]).toEqual(['0', from]);
      await beginReshard(nodes.context, undefined);
      await map.getClient(KEY).ping();
      expect([map.whereIs(KEY), map.addressOf(KEY)]).toEqual(['0', to]);
    });

    if (driver === 'redis')
      it('routes the commands of modules, like json.get', async () => {
        const map = transition();
        await nodes.old.set(KEY, 'text');
        await expect(map.getClient(KEY).json.get(KEY)).rejects.toThrow(/unknown command/);
        expect(await nodes.old.exists(KEY)).toBe(1);
        await beginReshard(nodes.context, undefined);
        await expect(map.getClient(KEY).json.get(KEY)).rejects.toThrow(/unknown command/);
        // The key was moved before the command was sent.
        expect([await nodes.old.exists(KEY), await nodes.next.exists(KEY)]).toEqual([0, 1]);
      });
  });
});
