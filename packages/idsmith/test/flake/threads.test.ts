import { FlakeGenerator } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { inWorker } from '../support/workers.ts';

const script = new URL('scripts/attached-worker.mjs', import.meta.url);
const COUNT = 1_000_000;

describe('4 worker threads × 1,000,000 ids', () => {
  it('have none repeated, and each its own increasing', async () => {
    const generator = new FlakeGenerator({ node: 5 });
    const first = generator.next();
    const handle = generator.share();
    const parts = await Promise.all(
      [1, 2, 3, 4].map(() => inWorker<BigUint64Array>(script, { handle, count: COUNT })),
    );
    for (const ids of parts) {
      let last = first;
      let falling = 0;
      for (const id of ids) {
        if (id <= last) falling++;
        last = id;
      }
      expect(falling).toBe(0);
    }
    const all = new BigUint64Array(4 * COUNT);
    parts.forEach((ids, i) => {
      all.set(ids, i * COUNT);
    });
    all.sort();
    let repeated = 0;
    for (let i = 1; i < all.length; i++) if (all[i] === all[i - 1]) repeated++;
    expect(repeated).toBe(0);
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
