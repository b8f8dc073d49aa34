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
  const withSequence = (work: (lab: ResendLab, name: string, kept: Block[]) => Promise<void>) => async () => {
    const lab = await open();
    const name = `resent ${crypto.randomUUID()}`;
    const kept: Block[] = [];
    await lab.other.defineSequence({ name, blockSize: 10 });
    await work(lab, name, kept).finally(() => lab.close());
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
    withSequence(async (lab, name, kept) => {
      kept.push(await giveOneBack(lab, name), await lab.other.allocate(name, 1));
      expect(kept.map(({ first }) => first)).toEqual([1n, 11n]);
      await lab.resend();
      kept.push(await lab.other.allocate(name, 1));
    }),
  );

  it(
    'takes a tail back once, though others have given ids back since',
    withSequence(async (lab, name, kept) => {
      kept.push(await giveOneBack(lab, name));
      const run = await lab.other.allocate(name, 2);
      expect(await lab.other.giveBack!(name, partOf(run, 10, 10))).toBe(true);
      kept.push(partOf(run, 0, 10));
      await lab.resend();
      kept.push(await lab.other.allocate(name, 1));
    }),
  );

  it(
    'alters a sequence once, though somebody has altered it back',
    withSequence(async (lab, name, kept) => {
      await lab.watched.alterSequence(name, { blockSize: 5 });
      await lab.other.alterSequence(name, { blockSize: 10 });
      kept.push(await lab.other.allocate(name, 1));
      await lab.resend();
      expect(await lab.other.describeSequence(name)).toMatchObject({ blockSize: 10, next: 11n });
    }),
  );

  it(
    'removes a sequence once, and leaves the one that is defined anew',
    withSequence(async (lab, name) => {
      await lab.watched.removeSequence(name);
      await lab.other.defineSequence({ name, start: 1000, blockSize: 10 });
      await lab.resend();
      expect(await lab.other.allocate(name, 1)).toMatchObject({ first: 1000n });
    }),
  );
}
