import cluster from 'node:cluster';
import { acquireLease, LocalityGenerator, LocalityUuid, memoryStore } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { identityWords } from '../../src/locality/layout.ts';
import { leasedNode, randomNode } from '../../src/locality/node.ts';
import { systemRandom } from '../../src/random.ts';
import { containerSigns, type Surroundings } from '../../src/runtime/container.ts';
import { doubtsOf } from '../../src/runtime/process-node.ts';
import { repeated } from '../support/unique.ts';
import { inProcess } from '../support/workers.ts';

const script = (name: string) => new URL(`scripts/${name}.mjs`, import.meta.url);
const MAC = Uint8Array.of(0x00, 0x1b, 0x21, 0x3a, 0x4f, 0x50);
const server = { pid: 4711, mac: MAC, signs: [] };
/** A MAC address whose byte at that place is another. */
const withByte = (place: number, byte: number) => MAC.map((old, i) => (i === place ? byte : old));

describe("the machine's own identity", () => {
  it('is good where process id and MAC address are its own', () => {
    expect(doubtsOf(server)).toEqual([]);
    expect(doubtsOf({ ...server, pid: 2 })).toEqual([]);
    expect(doubtsOf({ ...server, pid: 65_535 })).toEqual([]);
  });

  it("is shared with a generator whose clock is the machine's by another name", () => {
    const [one, two] = [undefined, Date].map(
      (clock) => new LocalityGenerator({ mode: 'sequential', ...(clock && { clock }) }),
    ) as [LocalityGenerator, LocalityGenerator];
    expect(repeated([...one.batch(1000), ...two.batch(1000), ...one.batch(1000)])).toEqual([]);
  });

  it.each([
    ['process id 1', { ...server, pid: 1 }],
    ['process id 0', { ...server, pid: 0 }],
    ['process id 65536', { ...server, pid: 65_536 }],
    ['process id 4194304', { ...server, pid: 4_194_304 }],
    ['no MAC address', { ...server, mac: undefined }],
    ['virtual machine', { ...server, mac: Uint8Array.of(0x08, 0x00, 0x27, 1, 2, 3) }],
    ['virtual machine', { ...server, mac: Uint8Array.of(0x00, 0x0c, 0x29, 1, 2, 3) }],
    ['locally administered', { ...server, mac: withByte(0, 0x02) }],
    ['locally administered', { ...server, mac: withByte(0, 0x42) }],
    ['locally administered', { ...server, mac: withByte(0, 0x01) }],
    ['leased node id', { ...server, mac: Uint8Array.of(0, 0x50, 0xc0, 0, 1, 2) }],
    ['container: /.dockerenv', { ...server, signs: ['/.dockerenv'] }],
  ])('is doubted for %s', (reason, facts) => {
    expect(doubtsOf(facts)).toEqual([expect.stringContaining(reason)]);
  });
});

describe('signs of a container', () => {
  const onServer: Surroundings = {
    platform: 'linux',
    env: () => undefined,
    exists: () => false,
    read: (path) =>
      path.endsWith('mountinfo') ? '22 1 8:1 / / rw - ext4 /dev/sda1 rw' : '0::/system.slice/app.service',
    link: () => 'pid:[4026531836]',
  };
  const withFile = (path: string, text: string): Surroundings => ({
    ...onServer,
    read: (other) => (other === path ? text : onServer.read(other)),
  });
  const withVariable = (name: string, value: string): Surroundings => ({
    ...onServer,
    env: (other) => (other === name ? value : undefined),
  });

  it('are not found on a server', () => {
    expect(containerSigns(onServer)).toEqual([]);
  });

  it.each([
    ...['KUBERNETES_SERVICE_HOST', 'container', 'AWS_LAMBDA_FUNCTION_NAME', 'WSL_DISTRO_NAME'].map(
      (name) => [`variable ${name}`, withVariable(name, '')] as const,
    ),
    ['variable USERNAME', withVariable('USERNAME', 'ContainerAdministrator')],
    ...['/.dockerenv', '/run/.containerenv', '/run/systemd/container'].map(
      (file) => [file, { ...onServer, exists: (path: string) => path === file }] as const,
    ),
    ['process namespace pid:[4026532599]', { ...onServer, link: () => 'pid:[4026532599]' }],
    ['process namespace unknown', { ...onServer, link: () => undefined }],
    ['/proc/1/cgroup', withFile('/proc/1/cgroup', '12:cpu:/docker/2f7a\n')],
    ['/proc/self/cgroup', withFile('/proc/self/cgroup', '0::/kubepods.slice/pod1\n')],
    [
      'a layered root file system',
      withFile('/proc/self/mountinfo', '1 2 0:3 / / rw,relatime - overlay overlay rw,lowerdir=/a'),
    ],
  ] satisfies (readonly [string, Surroundings])[])('are found: %s', (sign, surroundings) => {
    expect(containerSigns(surroundings)).toEqual([sign]);
  });

  it('are looked for in variables only where there is no Linux', () => {
    expect(containerSigns({ ...onServer, platform: 'darwin', link: () => undefined })).toEqual([]);
    expect(containerSigns({ ...onServer, platform: 'win32', exists: () => true })).toEqual([]);
  });

  it('are none in files that cannot be read', () => {
    expect(containerSigns({ ...onServer, read: () => undefined })).toEqual([]);
  });
});

describe('a random node', () => {
  it('is never one that a lease gives, and is other than all of them in ids', () => {
    const prefixes = new Set<number>();
    for (let i = 0; i < 100_000; i++)
      prefixes.add(identityWords(randomNode(systemRandom), 'locality')[0] & 0xfff);
    expect(prefixes).not.toContain(0);
    for (const id of [0, 1, 65_535, 65_536, 2 ** 30 - 1, 2 ** 32 - 1]) {
      for (const format of ['locality', 'rfc9562'] as const) {
        const [word1] = identityWords(leasedNode(id), format);
        expect(word1 & 0xfff).toBe(0);
      }
    }
  });

  it.each([0, 255])('is good though the random source only gives %d', (byte) => {
    const { mac } = randomNode({ fill: (target) => void target.fill(byte) });
    expect(mac.subarray(2, 4)).not.toEqual(Uint8Array.of(0, 0));
  });

  it('has a MAC address that no interface has', () => {
    const { mac, source } = new LocalityGenerator({ node: 'random' }).node;
    expect([mac[0], mac[1], source]).toEqual([3, 0, 'random']);
  });
});

describe('generator.node', () => {
  it('is what goes into ids, as a copy', () => {
    const generator = new LocalityGenerator({ node: { processId: 70_000, mac: MAC } });
    generator.node.mac.fill(9);
    expect(generator.node).toEqual({ processId: 70_000 - 65_536, mac: MAC, source: 'given' });
    const { processId, macFragment } = generator.nextUuid();
    expect(processId).toBe(generator.node.processId);
    expect(macFragment?.subarray(3)).toEqual(generator.node.mac.subarray(3));
  });

  it('can be given to another generator', () => {
    const { node } = new LocalityGenerator({ node: 'random' });
    expect(new LocalityGenerator({ node }).node).toEqual({ ...node, source: 'given' });
  });

  it('is kept by those who attach', () => {
    const generator = new LocalityGenerator({ node: 'random' });
    expect(LocalityGenerator.attach(structuredClone(generator.share())).node).toEqual(generator.node);
  });

  it("is the lease's present node id", async () => {
    const time = new FakeTime();
    const store = { ...memoryStore(), now: async () => time.now };
    const clock = time.clock();
    const lease = await acquireLease(store, { namespace: 'n', size: 3, ttl: 3000, timer: time, clock });
    const generator = new LocalityGenerator({ node: lease, clock });
    expect(generator.node).toEqual({ processId: 0, mac: new Uint8Array(6), source: 'lease' });
    const [record] = await store.listLeases('n');
    await store.swapLease('n', record, { ...record!, owner: 'thief', epoch: 2 });
    await time.advance(2000);
    expect(generator.node.processId).toBe(lease.id);
    expect(lease.id).toBe(1);
  });
});

describe('processes', () => {
  it('have each an identity of their own, forked or in a cluster, and their threads have the same', async () => {
    const outputs = await Promise.all([
      inProcess(script('identities')),
      inProcess(script('identities')),
      inProcess(script('cluster')),
    ]);
    const processes = outputs.flatMap((output) =>
      output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as string[]),
    );
    expect(cluster.isPrimary).toBe(true);
    for (const ids of processes) {
      expect(new Set(ids.map((id) => id.slice(9, 23))).size).toBe(1);
      for (const id of ids) expect(LocalityUuid.isValid(id)).toBe(true);
    }
    // Two processes, and a cluster of one that starts two.
    expect(processes).toHaveLength(5);
    expect(repeated(processes.map(([id]) => id!.slice(9, 23)))).toEqual([]);
  });

  it.each(['no-mac', 'orphan'])(
    'are refused "machine" where it does not tell them apart: %s',
    async (how) => {
      const [code, message] = JSON.parse(await inProcess(script('machine-refused'), [how]));
      expect(code).toBe('INVALID_OPTION');
      expect(message).toMatch(/^node "machine" .*use node "auto", "random" or a lease$/);
    },
  );
});
