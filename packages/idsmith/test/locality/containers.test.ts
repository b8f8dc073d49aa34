import { LocalityGenerator, type LocalityOptions, LocalityUuid } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { firstMac, machineFacts } from '../../src/runtime/node.ts';
import { machineFacts as webFacts, sharedProcess as webMemory } from '../../src/runtime/web.ts';
import { repeated } from '../support/unique.ts';
import { inProcess, inWorker } from '../support/workers.ts';

const script = (name: string) => new URL(`scripts/${name}.mjs`, import.meta.url);

/** Two containers that started from one image, in the same millisecond, with the same counter. */
function twoContainers(node: NonNullable<LocalityOptions['node']>): string[] {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  return [1, 2].flatMap(() => new LocalityGenerator({ node, clock, counter: 1 }).batch(1000));
}

describe('two containers with process id 1 and the same MAC address', () => {
  it('collide with their own identity', () => {
    const identity = { processId: 1, mac: Uint8Array.of(0x02, 0x42, 0xac, 0x11, 0x00, 0x02) };
    expect(repeated(twoContainers(identity))).toHaveLength(1000);
  });

  it('do not with a random node', () => {
    expect(repeated(twoContainers('random'))).toEqual([]);
  });
});

describe('the identity', () => {
  it('is one for all default generators of a process', () => {
    const nodes = [1, 2].map(() => new LocalityGenerator().node);
    expect(nodes[0]).toEqual(nodes[1]);
    const { processId, macFragment } = new LocalityGenerator({ mode: 'sequential' }).nextUuid();
    expect(processId).toBe(nodes[0]?.processId);
    expect([...(macFragment as Uint8Array).subarray(3)]).toEqual([...nodes[0]!.mac.subarray(3)]);
    expect(new LocalityUuid().processId).toBe(processId);
  });

  it('is the process id and a MAC address of this machine when that is asked for', () => {
    const { mac } = machineFacts() as { mac?: Uint8Array };
    const make = () => new LocalityGenerator({ node: 'machine' });
    if (mac === undefined) expect(make).toThrow(/MAC address/);
    else expect(make().node).toEqual({ processId: process.pid % 65536, mac, source: 'machine' });
  });

  it('has 44 random bits when it is random, other ones each time', () => {
    const fields = Array.from({ length: 1000 }, () =>
      new LocalityGenerator({ node: 'random' }).next().slice(9, 23),
    );
    expect(repeated(fields)).toEqual([]);
    const ones = fields
      .map((field) => BigInt(`0x${field.replaceAll('-', '')}`))
      .reduce((all, bits) => all | bits);
    expect(ones).toBe(0xffff_bfff_ffffn);
  });

  it('is random in runtimes that have neither', () => {
    expect([webFacts(), webMemory()]).toEqual([undefined, undefined]);
  });

  it('does not change when the bytes it was made of do', () => {
    const mac = Buffer.from([1, 2, 3, 4, 5, 6]);
    const generator = new LocalityGenerator({ node: { processId: 70_000, mac } });
    mac.fill(0);
    const handle = generator.share();
    const id = LocalityGenerator.attach(handle).nextUuid();
    expect(id.processId).toBe(70_000 - 65_536);
    expect(id.macFragment).toEqual(Uint8Array.of(0, 0, 3, 4, 5, 6));
    handle.node.mac.fill(9);
    expect(generator.nextUuid().macFragment).toEqual(id.macFragment);
  });

  it('is the first MAC address of a real interface, if there is one', () => {
    const address = { address: '', netmask: '', family: 'IPv4' as const, cidr: null };
    const own = { ...address, internal: false, mac: '02:42:ac:11:00:02' };
    const loopback = { ...address, internal: true, mac: '01:01:01:01:01:01' };
    const without = { ...address, internal: false, mac: '00:00:00:00:00:00' };
    expect(firstMac({ lo: [loopback], tun0: [without], eth0: [own] })).toEqual(
      Uint8Array.of(2, 66, 172, 17, 0, 2),
    );
    expect(firstMac({ lo: [loopback], tun0: [without], gone: undefined })).toBeUndefined();
    expect(firstMac({})).toBeUndefined();
  });

  it('is random in a worker whose main thread has never loaded idsmith', async () => {
    const ids = (await inProcess(script('orphans'))).trim().split('\n');
    const nodes = ids.map((id) => LocalityUuid.parse(id).toString().slice(9, 23));
    expect(nodes).toHaveLength(2);
    expect(nodes[0]).not.toBe(nodes[1]);
  });

  it("is this process's in a worker that was started before the main thread's first id", async () => {
    const bytes = await inWorker<Uint8Array>(script('default-worker'), { count: 1 });
    const { processId, mac } = new LocalityGenerator().node;
    expect(LocalityUuid.fromBytes(bytes).processId).toBe(processId);
    expect(LocalityUuid.fromBytes(bytes).macFragment?.subarray(3)).toEqual(mac.subarray(3));
  });
});
