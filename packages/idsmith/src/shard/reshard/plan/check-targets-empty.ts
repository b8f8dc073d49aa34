import { StoreError } from '../../../errors.js';
import { show } from '../../../options.js';
import type { Parties } from '../context.js';
import type { Wire } from '../node-connection.js';
import { type Name, textOf } from '../redis-key.js';
import { IN } from '../reserved-keys.js';
import { type Places, scan } from './key-placement.js';

/**
 * Sees to it that the nodes that join hold no other values of keys that are to come: left from a time when they were in
 * the ring before, they would be taken for newer ones.
 *
 * @throws StoreError naming the node and one of the keys
 */
export async function requireNoClash(parties: Parties, places: Places): Promise<void> {
  const joining = [...parties.targets.values()].filter(({ name }) => !parties.sources.has(name));
  await Promise.all(joining.map((node) => checkNode(node, parties, places)));
}

async function checkNode(node: Wire, parties: Parties, places: Places): Promise<void> {
  for await (const keys of scan(node)) {
    const bySource = new Map<Wire, Name[]>();
    for (const key of keys) {
      const route = parties.routeOf(places.stemOf(key) ?? '');
      if (route?.target !== node || places.stemOf(key) === undefined) continue;
      bySource.set(route.source, [...(bySource.get(route.source) ?? []), key]);
    }
    for (const [source, arrived] of bySource)
      for (const key of arrived)
        if ((await has(source, key)) && Number(await node.command(CHECKING, 'HEXISTS', IN, key)) === 0)
          throw new StoreError(
            `node ${node.name} holds a key ${show(textOf(key))} already that node ${source.name} has, ` +
              'too: it is not empty. Delete what it holds from before, and try again',
          );
  }
}

const CHECKING = 'looking for keys from before';

const has = async (wire: Wire, key: Name) => Number(await wire.command(CHECKING, 'EXISTS', key)) === 1;
