import { FlakeGenerator, layouts, type SharedFlake } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { atDepth } from '../../../../test/depth.ts';
import { repeated } from '../support/unique.ts';
import { inProcess, inWorker } from '../support/workers.ts';

const script = new URL('scripts/attached-worker.mjs', import.meta.url);
const COUNT = atDepth(1_000_000);

/** How many ids are not above the one before them. */
function falls(ids: BigUint64Array, first = -1n): number {
  let [last, count] = [first, 0];
  for (const id of ids) {
    if (id <= last) count++;
    last = id;
  }
  return count;
}

function sorted(parts: BigUint64Array[]): BigUint64Array {
  const all = new BigUint64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const ids of parts) {
    all.set(ids, at);
    at += ids.length;
  }
  return all.sort();
}

function repeats(ids: BigUint64Array): number {
  let count = 0;
  for (let i = 1; i < ids.length; i++) if (ids[i] === ids[i - 1]) count++;
  return count;
}

describe(`4 worker threads × ${COUNT} ids`, () => {
  it('have none repeated, and each its own increasing', async () => {
    const generator = new FlakeGenerator({ node: 5 });
    const first = generator.next();
    const handle = generator.share();
    const parts = await Promise.all(
      [1, 2, 3, 4].map(() => inWorker<BigUint64Array>(script, { handle, count: COUNT })),
    );
    for (const ids of parts) expect(falls(ids, first)).toBe(0);
    const all = sorted(parts);
    expect(repeats(all)).toBe(0);
    expect(generator.next()).toBeGreaterThan(all[all.length - 1] as bigint);
  });
});

describe('a shared flake generator', () => {
  it('gives the same handle each time, and refuses what is none', () => {
    const generator = new FlakeGenerator({ node: 1 });
    expect(generator.share()).toBe(generator.share());
    for (const handle of [null, undefined, {}, { state: new ArrayBuffer(24) }]) {
      expect(() => FlakeGenerator.attach(handle as never)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      );
    }
  });
});

describe('threads that have one fixed node, each with generators of its own', () => {
  const fixed = new URL('scripts/fixed-worker.mjs', import.meta.url);
  const mint = (
    name: keyof typeof layouts,
    node: number,
    count: number,
    handles: (SharedFlake | undefined)[],
  ) => {
    const gate = new SharedArrayBuffer(4);
    const common = { layout: name, node, count, gate, threads: handles.length };
    return Promise.all(handles.map((handle) => inWorker<BigUint64Array>(fixed, { ...common, handle })));
  };
  const check = (name: keyof typeof layouts, node: number, parts: BigUint64Array[]) => {
    for (const ids of parts) expect(falls(ids)).toBe(0);
    const all = sorted(parts);
    expect(repeats(all)).toBe(0);
    expect(all.every((id) => layouts[name].decode(id).node === node)).toBe(true);
  };
  const none = (threads: number) => Array.from({ length: threads }, () => undefined);

  it('repeat no id: 4 threads and the main one', async () => {
    const generator = new FlakeGenerator({ node: 500 });
    const others = mint('jflake', 500, atDepth(200_000), none(4));
    const own: bigint[] = [];
    let isDone = false;
    const end = others.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      own.push(generator.next(), ...generator.batch(100));
      await new Promise((resolve) => setImmediate(resolve));
    }
    check('jflake', 500, [...(await end), BigUint64Array.from(own)]);
  });

  it('repeat no id where ticks fill: 16 threads × 4,000', async () => {
    check('safe53', 30, await mint('safe53', 30, 4000, none(16)));
  });

  it('repeat no id beside threads that are attached to two of them', async () => {
    const shared = [1, 2].map(() => new FlakeGenerator({ node: 31, layout: layouts.safe53 }));
    const first = shared.map((generator) => generator.next());
    const handles = shared.map((generator) => generator.share());
    const parts = await mint('safe53', 31, 8000, [...handles, ...handles, ...none(2)]);
    check('safe53', 31, [...parts, BigUint64Array.from(first)]);
  });

  it('are told if their table is not that of the main thread', async () => {
    const { ids, warnings } = JSON.parse(await inProcess(new URL('scripts/orphans.mjs', import.meta.url)));
    expect(warnings).toEqual([['FIXED_NODE'], [], []]);
    expect(ids).toHaveLength(120_000);
    expect(repeated(ids)).toEqual([]);
  });
});
