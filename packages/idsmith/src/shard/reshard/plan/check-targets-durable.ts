import { StoreError } from '../../../errors.js';
import type { ReshardContext } from '../context.js';
import { type Persistence, readPersistence } from './persistence.js';

/**
 * Checks that keys are not moved to a node that loses them in a crash from a node that would have kept them.
 *
 * @param acceptVolatile true to move keys to such nodes anyway
 * @returns the persistence of the new nodes by name
 * @throws StoreError naming a new node that keeps less than an old one
 */
export async function requireTargetsDurable(
  context: ReshardContext,
  acceptVolatile: boolean,
): Promise<ReadonlyMap<string, Persistence>> {
  const { sources, targets, gone } = context;
  const all = new Map([...sources, ...targets]);
  const read = [...all.values()]
    .filter(({ address }) => !gone.has(address))
    .map(async (node) => [node.address, await readPersistence(node)] as const);
  const persistence = new Map(await Promise.all(read));
  for (const address of targets.keys()) {
    const target = persistence.get(address);
    if (acceptVolatile || target === undefined || target.hasAof || target.replicas > 0) continue;
    const better = [...sources.keys()].find(
      (source) => source !== address && persistence.get(source)?.keepsNothing === false,
    );
    if (better !== undefined)
      throw new StoreError(
        `node ${address} has neither an append-only file nor a replica: keys that node ${better} keeps would be lost if node ${address} ` +
          'crashed. Nothing was changed. Set appendonly yes there, or connect a replica, and try again. Or accept the risk with ' +
          'acceptVolatileTarget (--accept-volatile-target)',
      );
  }
  return persistence;
}
