// How a process of a soak run opens each family and mints a handful of it in every way that there is. Ids go into `out` as
// numbers as soon as they are there, so that those before a failure count.

import { randomInt } from 'node:crypto';
import { acquireLease, defineLayout, FlakeGenerator, LocalityGenerator, Uuid7Generator } from 'idsmith';

const ofUuid = (text) => BigInt(`0x${text.replaceAll('-', '')}`);

/** @param bytes whole UUIDs */
function* uuidsIn(bytes) {
  for (let at = 0; at < bytes.length; at += 16)
    yield BigInt(`0x${Buffer.from(bytes.subarray(at, at + 16)).toString('hex')}`);
}

/** The part of a key that must be unique: the millisecond, and the two characters of the variant. */
function ofKey(map, key) {
  const variant = Buffer.from(key.slice(-4, -2)).readUInt16BE();
  return (BigInt(map.getTime(key).getTime()) << 16n) | BigInt(variant);
}

function mintUuids(generator, out) {
  out.push(ofUuid(generator.next()));
  out.push(...generator.batch(3).map(ofUuid));
  const two = new Uint8Array(32);
  out.push(...uuidsIn(two.subarray(0, 16 * generator.fill(two))));
}

/** Times in steps of a tick, so that processes with one node id would meet in a moment. */
const coarse = (clock, tick) => ({ now: () => Math.floor(clock.now() / tick) * tick });

/** A lease of a namespace with one node id for each source, so that a new process takes over what another one leaves. */
async function takeLease({ store, clock, lease, leases }, namespace) {
  const taken = await acquireLease(store, { ...lease, namespace, clock });
  leases.push(taken);
  return taken;
}

export const FAMILIES = {
  flake: {
    async open(source) {
      const node = await takeLease(source, 'soak-flake');
      return new FlakeGenerator({ node, layout: defineLayout(source.layout), clock: source.clock });
    },
    async mint(generator, out) {
      out.push(generator.next());
      out.push(...generator.batch(4));
      out.push(await generator.nextAsync());
    },
  },
  locality: {
    async open(source) {
      const node = await takeLease(source, 'soak-locality');
      const clock = coarse(source.clock, source.layout.tick);
      return new LocalityGenerator({ node, clock, mode: 'sequential' });
    },
    async mint(generator, out) {
      if (randomInt(10) === 0) generator.useSequentialIds();
      if (randomInt(10) === 0) generator.useVariableIds();
      mintUuids(generator, out);
    },
  },
  uuid7: {
    async open(source) {
      const node = await takeLease(source, 'soak-uuid7');
      return new Uuid7Generator({ node, clock: coarse(source.clock, source.layout.tick) });
    },
    mint: async (generator, out) => mintUuids(generator, out),
  },
  sequence: {
    open: ({ ids }) => ids.sequence('soak', { define: { start: 1, blockSize: 20 } }),
    async mint(sequence, out) {
      out.push(await sequence.next());
      out.push(...(await sequence.batch(randomInt(1, 8))));
      const taken = sequence.take();
      if (taken !== undefined) out.push(taken);
    },
  },
  key: {
    open: async ({ map }) => map,
    async mint(map, out) {
      out.push(ofKey(map, await map.genKey()));
      out.push(...(await map.genKeys('user', 4)).map((key) => ofKey(map, key)));
    },
  },
};
