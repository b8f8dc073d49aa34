import type { Block, SequenceStore } from 'idsmith';
import { expect, it } from 'vitest';
import { partOf } from '../../../src/sequence/block.ts';
import { notBeside } from './runs.ts';

/** Two clients of one store. Drivers send a request again when its answer was lost, and so can this. */
export interface ResendLab {
  /** The client whose requests are recorded. */
  readonly watched: SequenceStore;
  readonly other: SequenceStore;
  /** Sends the last change that `watched` made to a row once more, exactly as it was. */
  resend(): Promise<unknown>;
  close(): Promise<unknown>;
}

/** A change that reaches the store twice is made once. */
export function resendCases(open: () => Promise<ResendLab>): void {
  /** Runs `work` with a sequence in blocks of ten, whose runs must not overlap in the end. */
  const withSequence =
    (work: (shared: ResendLab, name: string, kept: Block[]) => Promise<void>) => async () => {
      const shared = await open();
      const name = `resent ${crypto.randomUUID()}`;
      const kept: Block[] = [];
      await shared.other.defineSequence({ name, blockSize: 10 });
      await work(shared, name, kept).finally(() => shared.close());
      expect(notBeside(kept, 'overlap')).toEqual([]);
    };

  /** Takes two blocks and gives the second one back. */
  async function giveOneBack({ watched }: ResendLab, name: string): Promise<Block> {
    const run = await watched.allocate(name, 2);
    expect(await watched.giveBack!(name, partOf(run, 10, 10))).toBe(true);
    return partOf(run, 0, 10);
  }

  it(
    'takes a tail back once, though somebody has taken exactly these ids before it comes again',
    withSequence(async (shared, name, kept) => {
      kept.push(await giveOneBack(shared, name), await shared.other.allocate(name, 1));
      expect(kept.map(({ first }) => first)).toEqual([1n, 11n]);
      await shared.resend();
      kept.push(await shared.other.allocate(name, 1));
    }),
  );

  it(
    'takes a tail back once, though others have given ids back since',
    withSequence(async (shared, name, kept) => {
      kept.push(await giveOneBack(shared, name));
      const run = await shared.other.allocate(name, 2);
      expect(await shared.other.giveBack!(name, partOf(run, 10, 10))).toBe(true);
      kept.push(partOf(run, 0, 10));
      await shared.resend();
      kept.push(await shared.other.allocate(name, 1));
    }),
  );

  it(
    'alters a sequence once, though somebody has altered it back',
    withSequence(async (shared, name, kept) => {
      await shared.watched.alterSequence(name, { blockSize: 5 });
      await shared.other.alterSequence(name, { blockSize: 10 });
      kept.push(await shared.other.allocate(name, 1));
      await shared.resend();
      expect(await shared.other.describeSequence(name)).toMatchObject({ blockSize: 10, next: 11n });
    }),
  );

  it(
    'removes a sequence once, and leaves the one that is defined anew',
    withSequence(async (shared, name) => {
      await shared.watched.removeSequence(name);
      await shared.other.defineSequence({ name, start: 1000, blockSize: 10 });
      await shared.resend();
      expect(await shared.other.allocate(name, 1)).toMatchObject({ first: 1000n });
    }),
  );
}
