import { runInNewContext } from 'node:vm';
import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';

const TEXT = '20be0ffc-314a-bd53-7a50-013a65ca76d2';
const named = (code: string) => expect.objectContaining({ code });

const notIds: unknown[] = [
  null,
  undefined,
  5,
  12n,
  Number.NaN,
  {},
  [],
  Symbol('id'),
  new Date(),
  '',
  TEXT.slice(1),
  `${TEXT}2`,
  TEXT.replace('-', '_'),
  TEXT.replaceAll('-', ''),
  `\u00a0${TEXT}`,
  `${TEXT.slice(0, 35)}\u00a0`,
  { toString: () => TEXT },
  new String(TEXT),
];

describe('what is not a UUID', () => {
  it.each(notIds)('is not valid, and is refused: %s', (input) => {
    expect(LocalityUuid.isValid(input)).toBe(false);
    expect(() => LocalityUuid.parse(input as string)).toThrow(named('INVALID_ID'));
  });

  it.each([0, 15, 17])('is refused as %d bytes', (length) => {
    expect(() => LocalityUuid.fromBytes(new Uint8Array(length))).toThrow(named('INVALID_ID'));
  });

  it.each([null, TEXT, new Array(16).fill(0), new Uint16Array(16), new ArrayBuffer(16)])(
    'is refused as bytes: %s',
    (bytes) => {
      expect(() => LocalityUuid.fromBytes(bytes as never)).toThrow(named('INVALID_ID'));
    },
  );

  it.each([-(2n ** 63n) - 1n, 2n ** 64n, 5, '5', null, undefined])('is refused as half: %s', (half) => {
    expect(() => LocalityUuid.fromBits(half as bigint, 0n)).toThrow(named('INVALID_ID'));
    expect(() => LocalityUuid.fromBits(0n, half as bigint)).toThrow(named('INVALID_ID'));
  });

  it('is named in the message, cut short when it is long', () => {
    expect(() => LocalityUuid.parse('nonsense')).toThrow('"nonsense" is not a UUID');
    expect(() => LocalityUuid.parse('x'.repeat(1e6))).toThrow(/^"x{57}\.\.\." is not a UUID$/);
  });

  it('is refused in no time, however much white space it holds', () => {
    expect(() => LocalityUuid.parse(`x${' '.repeat(1e6)}x`)).toThrow(named('INVALID_ID'));
  });

  it('is trimmed of every character up to U+0020, and of no other', () => {
    const around = String.fromCharCode(...Array.from({ length: 33 }, (_, code) => code));
    expect(`${LocalityUuid.parse(around + TEXT + around)}`).toBe(TEXT);
    for (const other of ['!', '\u007f', '\u0085', '\u2028', '\ufeff']) {
      expect(() => LocalityUuid.parse(other + TEXT)).toThrow(named('INVALID_ID'));
    }
  });

  it('equals nothing, whatever it pretends to be', () => {
    const uuid = LocalityUuid.parse(TEXT);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const other of [Object.create(LocalityUuid.prototype), new Proxy(uuid, {}), proxy]) {
      expect(uuid.equals(other)).toBe(false);
    }
  });

  it('is refused by the constructor, which takes nothing', () => {
    const construct = LocalityUuid as unknown as new (...args: unknown[]) => LocalityUuid;
    for (const args of [[TEXT], [null], [new Uint8Array(16)], [new Uint8Array(16), Symbol('owned')]]) {
      expect(() => new construct(...args)).toThrow(named('INVALID_OPTION'));
    }
  });
});

describe('a wrong option', () => {
  const mac = new Uint8Array(6);
  it.each([
    [{ mode: 'random' }, 'mode'],
    [{ mode: null }, 'mode'],
    [{ reversal: 'JAVA' }, 'reversal'],
    [{ window: 'day' }, 'window'],
    [{ format: 'v7' }, 'format'],
    [{ format: null }, 'format'],
    [{ reseed: 'yes' }, 'reseed'],
    [{ node: 'other' }, 'node'],
    [{ node: null }, 'node'],
    [{ node: 5 }, 'node'],
    [{ node: { processId: -1, mac } }, 'node.processId'],
    [{ node: { processId: 1.5, mac } }, 'node.processId'],
    [{ node: { processId: Number.NaN, mac } }, 'node.processId'],
    [{ node: { processId: '7', mac } }, 'node.processId'],
    [{ node: { processId: 1, mac: new Uint8Array(5) } }, 'node.mac'],
    [{ node: { processId: 1, mac: new Uint8Array(7) } }, 'node.mac'],
    [{ node: { processId: 1, mac: '00:00:00:00:00:00' } }, 'node.mac'],
    [{ node: { processId: 1 } }, 'node.mac'],
    [{ counter: -(2 ** 31) - 1 }, 'counter'],
    [{ counter: 2 ** 32 }, 'counter'],
    [{ counter: 0.5 }, 'counter'],
    [{ counter: 5n }, 'counter'],
    [{ clock: {} }, 'clock'],
    [{ clock: null }, 'clock'],
    [{ clock: 1234 }, 'clock'],
    [{ random: {} }, 'random'],
  ])('%o is refused by name', (options, name) => {
    const construct = () => new LocalityGenerator(options as never);
    expect(construct).toThrow(named('INVALID_OPTION'));
    expect(construct).toThrow(new RegExp(`^${name} must be `));
  });

  it.each([
    ['options', 'node', { nod: 'random' }],
    ['options', 'mode', { moed: 'sequential' }],
    ['options', 'counter', { conter: 5 }],
    ['options', 'reseed', { reSeed: true }],
    ['node', 'processId', { node: { procesId: 1, mac } }],
    ['node', 'mac', { node: { processId: 1, mac, Mac: mac } }],
  ])('name in %s is refused with the one that is near, %s: %o', (what, near, options) => {
    const construct = () => new LocalityGenerator(options as never);
    expect(construct).toThrow(named('INVALID_OPTION'));
    expect(construct).toThrow(new RegExp(`^${what}: unknown name ".*"; did you mean "${near}"`));
  });

  it('of attach() is refused', () => {
    const handle = new LocalityGenerator({ node: 'random' }).share();
    expect(() => LocalityGenerator.attach(handle, { clok: new FakeClock() } as never)).toThrow(/"clock"/);
    expect(() => LocalityGenerator.attach(handle, null as never)).toThrow(named('INVALID_OPTION'));
    expect(() => LocalityGenerator.attach({ ...handle, streem: 1 } as never)).toThrow(/"stream"/);
    expect(() => LocalityGenerator.attach({ ...handle, node: { ...handle.node, pid: 1 } } as never)).toThrow(
      /^handle.node: unknown name "pid"/,
    );
  });

  it.each([null, 5, 'variable'])('object %s is refused', (options) => {
    expect(() => new LocalityGenerator(options as never)).toThrow(named('INVALID_OPTION'));
  });

  const sound = () => new LocalityGenerator({ node: 'random' }).share();
  it.each([
    [null],
    [undefined],
    [5],
    [{}],
    [{ ...sound(), counter: undefined }],
    [{ ...sound(), counter: new ArrayBuffer(4) }],
    [{ ...sound(), counter: new SharedArrayBuffer(4) }],
    [{ ...sound(), ledger: new ArrayBuffer(16) }],
    [{ ...sound(), stream: -1 }],
    [{ ...sound(), stream: 1.5 }],
    [{ ...sound(), stream: 'x' }],
    [{ ...sound(), node: undefined }],
    [{ ...sound(), node: 'random' }],
    [{ ...sound(), node: { processId: 1, mac: new Uint8Array(2) } }],
    [{ ...sound(), node: { ...sound().node, source: 'elsewhere' } }],
    [{ ...sound(), format: 'v7' }],
    [{ ...sound(), flavour: 'locality' }],
    [{ ...sound(), mode: 'other' }],
    [{ ...sound(), seededIn: Number.NaN }],
  ])('handle %o is refused', (handle) => {
    expect(() => LocalityGenerator.attach(handle as never)).toThrow(named('INVALID_OPTION'));
  });
});

describe('a wrong count or target', () => {
  it('a batch of none is an empty array, and takes no id', () => {
    const generator = new LocalityGenerator({ counter: 0, node: 'random' });
    expect(generator.batch(0)).toEqual([]);
    expect(generator.next().slice(0, 8)).toBe('5bcb4db0');
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 24 + 1, 2 ** 32, '5', 5n, null, undefined])(
    '%s is refused and takes no id',
    (count) => {
      const generator = new LocalityGenerator({ counter: 0, node: 'random' });
      expect(() => generator.batch(count as number)).toThrow(named('INVALID_OPTION'));
      expect(generator.next().slice(0, 8)).toBe('5bcb4db0');
    },
  );

  it('bytes of another realm are as good, and detached ones hold nothing', () => {
    const foreign = runInNewContext('new Uint8Array(16)');
    expect(new LocalityGenerator().fill(foreign)).toBe(1);
    expect(LocalityUuid.fromBytes(foreign).version).toBe('b');
    const detached = new Uint8Array(16);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    expect(new LocalityGenerator().fill(detached)).toBe(0);
  });

  it.each([null, undefined, 16, 'x', new Array(16), new Uint16Array(16), new ArrayBuffer(16)])(
    'target %s is refused',
    (target) => {
      expect(() => new LocalityGenerator().fill(target as never)).toThrow(named('INVALID_OPTION'));
    },
  );
});

describe('a wrong clock', () => {
  it.each([
    Number.NaN,
    -1,
    -0.5,
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    '5',
    undefined,
    5n,
  ])('that gives %s is refused at every call, and works again when it recovers', (reading) => {
    const clock = new FakeClock(1000);
    const generator = new LocalityGenerator({ clock, counter: 0, node: 'random' });
    clock.time = reading as number;
    expect(() => generator.next()).toThrow(named('CLOCK'));
    expect(() => generator.batch(3)).toThrow(named('CLOCK'));
    expect(() => generator.fill(new Uint8Array(16))).toThrow(named('CLOCK'));
    expect(() => generator.nextUuid()).toThrow(named('CLOCK'));
    expect(() => generator.useSequentialIds()).toThrow(named('CLOCK'));
    expect(() => new LocalityGenerator({ clock, mode: 'sequential' }).next()).toThrow(named('CLOCK'));
    clock.time = 1000;
    expect(generator.next().slice(0, 8)).toBe('5bcb4db0');
  });

  it.each([2 ** 48, 9e15])('at %d is refused as the end of time, and changes nothing', (time) => {
    const clock = new FakeClock(1000);
    const generator = new LocalityGenerator({ clock, counter: 0, node: 'random' });
    clock.time = time;
    expect(() => generator.useSequentialIds()).toThrow(named('TIME_EXHAUSTED'));
    expect(() => new LocalityGenerator({ clock, mode: 'sequential' }).next()).toThrow(
      named('TIME_EXHAUSTED'),
    );
    clock.time = 1000;
    expect(generator.next().slice(0, 8)).toBe('5bcb4db0');
  });

  it('past 48 bits is refused as the end of time', () => {
    const generator = new LocalityGenerator({ clock: new FakeClock(2 ** 48), node: 'random' });
    expect(() => generator.next()).toThrow(named('TIME_EXHAUSTED'));
  });
});
