import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { atDepth } from '../../../../test/depth.ts';
import { idsIn, repeated } from '../support/unique.ts';
import { inProcess, inWorker } from '../support/workers.ts';

const script = (name: string) => new URL(`scripts/${name}.mjs`, import.meta.url);
const everyId = function* (parts: Uint8Array[]) {
  for (const part of parts) yield* idsIn(part);
};

/** Mints in the main thread until all the others are done, so that it is at it while they are. */
async function alongside<T>(
  generator: LocalityGenerator,
  others: Promise<T>[],
): Promise<[Uint8Array, ...T[]]> {
  const chunks: Uint8Array[] = [];
  let busy = true;
  const all = Promise.all(others).finally(() => {
    busy = false;
  });
  while (busy) {
    const chunk = new Uint8Array(16 * 200);
    generator.fill(chunk);
    chunks.push(chunk);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return [Uint8Array.from(Buffer.concat(chunks)), ...(await all)];
}

const THREADS = 10;
const EACH = atDepth(50_000);

describe(`10 worker threads × ${EACH} ids`, () => {
  it('are unique with a shared counter, while the main thread mints too', async () => {
    const generator = new LocalityGenerator();
    const handle = generator.share();
    const workers = Array.from({ length: THREADS }, () =>
      inWorker<Uint8Array>(script('attached-worker'), { handle, count: EACH }),
    );
    const parts = await alongside(generator, workers);
    expect(parts.slice(1).map((part) => part.length)).toEqual(new Array(THREADS).fill(16 * EACH));
    expect(repeated(everyId(parts))).toEqual([]);
  });

  it.each([true, false])(
    "are unique with each thread's default generator, while the main thread mints too (sequential: %s)",
    async (sequential) => {
      const generator = new LocalityGenerator({ mode: sequential ? 'sequential' : 'variable' });
      const workers = Array.from({ length: THREADS }, () =>
        inWorker<Uint8Array>(script('default-worker'), { count: EACH, sequential }),
      );
      const parts = await alongside(generator, workers);
      expect(repeated(everyId(parts))).toEqual([]);
      // They carry this process and machine: the threads were kept apart by their milliseconds alone.
      const here = new LocalityUuid();
      for (const part of parts) {
        const id = LocalityUuid.fromBytes(part.slice(0, 16));
        expect([id.processId, id.macFragment]).toEqual([here.processId, here.macFragment]);
      }
    },
  );

  it('are unique when threads leave the shared counter by changing their mode', async () => {
    const generator = new LocalityGenerator();
    const handle = generator.share();
    const workers = [true, false, true, false].map((toggle) =>
      inWorker<Uint8Array>(script('attached-worker'), { handle, count: EACH, toggle }),
    );
    expect(repeated(everyId(await alongside(generator, workers)))).toEqual([]);
  });
});

describe('a shared generator', () => {
  it('counts on with those attached to it as one', () => {
    const generator = new LocalityGenerator({ mode: 'sequential', node: 'random', counter: 10 });
    generator.next();
    const attached = LocalityGenerator.attach(generator.share());
    const ids = [generator.next(), attached.next(), ...attached.batch(2), generator.next(), attached.next()];
    expect(ids.map((id) => Number.parseInt(id.slice(0, 8), 16))).toEqual([12, 13, 14, 15, 16, 17]);
  });

  it('gives the same handle each time, and takes it through structured cloning', () => {
    const generator = new LocalityGenerator({ format: 'rfc9562', node: 'random' });
    const handle = generator.share();
    expect(generator.share()).toBe(handle);
    const attached = LocalityGenerator.attach(structuredClone(handle));
    const [a, b] = [generator.next(), attached.next()];
    expect(a.slice(9, 23)).toBe(b.slice(9, 23));
    expect(a).not.toBe(b);
  });
});

describe('8 processes', () => {
  const each = atDepth(100_000);

  it(`× ${each} ids are unique`, async () => {
    const outputs = await Promise.all(
      Array.from({ length: 8 }, () => inProcess(script('process'), [String(each)])),
    );
    const lines = function* () {
      for (const output of outputs) yield* output.split('\n');
    };
    let count = 0;
    const counted = function* () {
      for (const line of lines()) {
        count++;
        yield line;
      }
    };
    expect(repeated(counted())).toEqual([]);
    expect(count).toBe(8 * each);
  });
});
