import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../idsmith/src/errors.ts';
import { MintingNode } from '../../src/mint/minting-nodes.ts';
import type { NodeSequence, NodeSequenceStatus } from '../../src/mint/node-sequence.ts';

const NOW = 10_000;
const PROOF = { from: 5, now: 700_000 };

const STATUS: NodeSequenceStatus = {
  whose: 'own',
  state: 'open',
  fingerprint: 'f',
  next: '',
  nodes: 'a',
  generation: 1,
  high: 7,
  from: 5,
  lost: false,
  now: 700_000,
};

function nodeOf(readStatus: () => Promise<NodeSequenceStatus> = async () => STATUS): MintingNode {
  return new MintingNode({ node: { address: 'a:1' }, readStatus } as unknown as NodeSequence);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.advanceTimersByTime(NOW);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('A node that mints', () => {
  it('is free, healthy and without a proof at first', () => {
    const node = nodeOf();
    expect({ ...node }).toMatchObject({ isBusy: false, waitUntil: 0, backOffUntil: 0, losses: 0 });
    expect([node.isSilent, node.hasFailed, node.address]).toEqual([false, false, 'a:1']);
    expect([node.proof, node.clockAt(NOW), node.earliestClockAt(NOW)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(node.isProofOld(Number.NEGATIVE_INFINITY)).toBe(true);
    node.expireProof();
    expect(node.isProofOld(0)).toBe(true);
  });

  it('tells its clock by the question and by the answer, and has a proof for half a second', () => {
    const node = nodeOf();
    node.answered(PROOF, NOW - 30);
    expect(node.proof).toBe(PROOF);
    expect(node.clockAt(NOW + 100)).toBe(PROOF.now + 130);
    expect(node.earliestClockAt(NOW + 100)).toBe(PROOF.now + 100);
    expect([node.isProofOld(NOW + 469), node.isProofOld(NOW + 470)]).toEqual([false, true]);
    node.expireProof();
    expect(node.isProofOld(0)).toBe(true);
    expect(node.proof).toBe(PROOF);
    node.answered(undefined, NOW);
    expect(node.proof).toBeUndefined();
    expect(node.isProofOld(0)).toBe(true);
  });

  it('is left alone for twice as long with each failure, up to half a minute', () => {
    const node = nodeOf();
    const waits = Array.from({ length: 7 }, () => {
      node.failed(NOW, true);
      return node.backOffUntil - NOW;
    });
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    node.succeeded();
    expect([node.backOffUntil, node.hasFailed]).toEqual([0, false]);
    node.failed(NOW, true);
    expect(node.backOffUntil - NOW).toBe(1000);
    // An answer alone does not make it trustworthy.
    node.returned();
    node.failed(NOW, true);
    expect(node.backOffUntil - NOW).toBe(2000);
  });

  it('has no proof while it is silent, and the old one again when it turns out to have answered', () => {
    const node = nodeOf();
    node.answered(PROOF, NOW);
    node.failed(NOW, true);
    expect([node.isSilent, node.hasFailed, node.proof]).toEqual([true, true, undefined]);
    expect(node.clockAt(NOW)).toBe(PROOF.now);
    node.failed(NOW, false);
    expect([node.isSilent, node.hasFailed, node.proof]).toEqual([false, true, PROOF]);
    node.failed(NOW, true);
    node.answered(PROOF, NOW);
    expect([node.isSilent, node.hasFailed]).toEqual([false, true]);
    node.returned();
    expect(node.hasFailed).toBe(false);
  });

  it('is asked once by all who ask at the same time, and again by those who ask later', async () => {
    const answers: ((status: NodeSequenceStatus) => void)[] = [];
    const node = nodeOf(() => new Promise((resolve) => void answers.push(resolve)));
    const seen: string[] = [];
    const first = node.renewProof(({ nodes }) => void seen.push(nodes));
    vi.advanceTimersByTime(40);
    const second = node.renewProof(() => {});
    expect(second).toBe(first);
    answers[0]!(STATUS);
    await first;
    expect(seen).toEqual(['a']);
    expect(node.proof).toEqual(PROOF);
    expect(node.clockAt(NOW + 40)).toBe(PROOF.now + 40);
    void node.renewProof(() => {});
    expect(answers).toHaveLength(2);
  });

  it('passes on what is wrong with its status, which counts as an answer, and asks again after an error', async () => {
    let isUp = false;
    const node = nodeOf(async () => {
      if (!isUp) throw new StoreError('no answer');
      return { ...STATUS, state: 'closed' };
    });
    const check = () => {
      throw new StoreError('closed');
    };
    node.answered(PROOF, NOW);
    await expect(node.renewProof(check)).rejects.toThrow('no answer');
    expect(node.proof).toBe(PROOF);
    isUp = true;
    await expect(node.renewProof(check)).rejects.toThrow('closed');
    expect(node.proof).toBeUndefined();
  });
});
