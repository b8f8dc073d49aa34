import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../idsmith/src/errors.ts';
import { writeKeys } from '../../src/keys/codec.ts';
import {
  allNodesFailed,
  distributeKeys,
  endOnAbort,
  type MintPart,
  type MintRequest,
  mintRequest,
  rejectAll,
  takeParts,
} from '../../src/mint/mint-request.ts';
import type { MintingNode } from '../../src/mint/minting-nodes.ts';
import type { KeyRange } from '../../src/mint/node-sequence.ts';

const SPAN = { first: 10, last: 13 };
const SIZE = 3;
const NOW = 5000;

const someNode = () => ({ sequence: { nodeSet: { size: SIZE } } }) as unknown as MintingNode;
const request = (count: number): MintRequest =>
  mintRequest(
    2,
    count,
    0,
    () => {},
    () => {},
  );
const part = (count: number): MintPart => ({ request: request(count), count });
const range = (variant: number, count: number, restIn = 0): KeyRange => ({
  kind: 'keys',
  ms: 900,
  variant,
  count,
  restIn,
  span: SPAN,
  proof: { from: 0, now: 900 },
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.advanceTimersByTime(NOW);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('Requests', () => {
  const allowed = () => true;

  it('begin with nothing', () => {
    expect(
      mintRequest(
        62,
        7,
        30,
        () => {},
        () => {},
      ),
    ).toMatchObject({
      suffix: '10',
      count: 7,
      wanted: 7,
      reserved: 0,
      batches: [],
      above: 30,
      isSettled: false,
    });
  });

  it('are taken in parts, up to the most that a node is asked for', () => {
    const [node, requests] = [someNode(), [request(3), request(4), request(5)]];
    const parts = takeParts(requests, node, 6, NOW, allowed);
    expect(parts).toEqual([
      { request: requests[0], count: 3 },
      { request: requests[1], count: 3 },
    ]);
    expect(requests.map(({ wanted }) => wanted)).toEqual([0, 1, 5]);
    expect(takeParts(requests, node, 0, NOW, allowed)).toEqual([]);
    // A request that wants nothing has no part.
    expect(takeParts(requests, node, 100, NOW, allowed).map(({ count }) => count)).toEqual([1, 5]);
  });

  it('are left out where the node has failed them, has no more yet, or is not allowed', () => {
    const [node, other] = [someNode(), someNode()];
    const requests = Array.from({ length: 6 }, () => request(1));
    requests[0]!.failures = new Map([[node, new StoreError('failed')]]);
    requests[1]!.failures = new Map([[other, new StoreError('failed')]]);
    requests[2]!.notBefore = new Map([[node, NOW + 1]]);
    requests[3]!.notBefore = new Map([[node, NOW]]);
    requests[4]!.notBefore = new Map([[other, NOW + 1]]);
    const parts = takeParts(requests, node, 100, NOW, (each) => each !== requests[5]);
    expect(parts.map((each) => requests.indexOf(each.request))).toEqual([1, 3, 4]);
    // Nobody has failed or waits before the first moment of the clock either.
    expect(takeParts([request(1)], node, 1, 0, allowed)).toHaveLength(1);
  });

  it('end with an error once and for all', () => {
    const reject = vi.fn();
    const [one, error] = [mintRequest(2, 5, 0, () => {}, reject), new StoreError('over')];
    rejectAll([one], error);
    expect(one).toMatchObject({ wanted: 0, isSettled: true });
    expect(reject.mock.calls).toEqual([[error]]);
  });

  it('end when their signal is aborted, and listen no longer than they wait', () => {
    const listening = () => {
      const { signal, abort } = new (class extends AbortController {
        override abort = super.abort.bind(this);
      })();
      return {
        signal,
        abort,
        added: vi.spyOn(signal, 'addEventListener'),
        removed: vi.spyOn(signal, 'removeEventListener'),
      };
    };
    const [resolve, reject] = [vi.fn(), vi.fn()];
    const aborted = listening();
    const one = mintRequest(2, 5, 0, resolve, reject);
    endOnAbort(one, aborted.signal);
    aborted.abort('enough');
    expect(reject.mock.calls).toEqual([['enough']]);
    expect(one).toMatchObject({ wanted: 0, isSettled: true });

    for (const end of ['resolve', 'reject'] as const) {
      const { signal, added, removed } = listening();
      const other = mintRequest(2, 5, 0, resolve, reject);
      endOnAbort(other, signal);
      expect(added).toHaveBeenCalledTimes(1);
      expect(removed).not.toHaveBeenCalled();
      other[end](['key'] as never);
      expect(removed).toHaveBeenCalledTimes(1);
    }
    expect(resolve.mock.calls).toEqual([[['key']]]);
    expect(reject.mock.calls).toEqual([['enough'], [['key']]]);
  });

  it('that failed on all nodes tell of all of them, or once if all say the same', () => {
    const failed = (...messages: string[]) => {
      const one = request(1);
      one.failures = new Map(messages.map((message) => [someNode(), new StoreError(message)]));
      return allNodesFailed(one);
    };
    expect(failed('a', 'a', 'a').message).toBe('a');
    const error = failed('a', 'b', 'a');
    expect(error.message).toBe('no node can mint keys: a; b; a');
    expect((error.cause as Error).message).toBe('a');
  });
});

describe('The keys of a range', () => {
  it('go to the requests in their order, on through the milliseconds of the node', () => {
    const [node, parts] = [someNode(), [part(3), part(5), part(1)] as const];
    distributeKeys(range(12, 9), parts, node);
    const all = writeKeys(900, 12, SIZE, SPAN, 9, '02');
    expect(parts.map(({ request: { batches } }) => batches)).toEqual([
      [{ keys: all.slice(0, 3), ms: 900, variant: 12, span: SPAN }],
      [{ keys: all.slice(3, 8), ms: 903, variant: 11, span: SPAN }],
      [{ keys: all.slice(8), ms: 906, variant: 12, span: SPAN }],
    ]);
    expect(parts.map(({ count, request: { reserved } }) => [count, reserved])).toEqual([
      [0, 3],
      [0, 5],
      [0, 1],
    ]);
    expect(parts.every(({ request: { notBefore } }) => notBefore === undefined)).toBe(true);
  });

  it.each([
    [0, 1],
    [1, 1],
    [70, 70],
    [100, 100],
    [101, 100],
  ])('that are too few for the requests leave the node alone for a while: rest in %d ms', (restIn, wait) => {
    const [node, other, parts] = [someNode(), someNode(), [part(2), part(4)] as const];
    parts[1].request.notBefore = new Map([[other, 7]]);
    distributeKeys(range(10, 3, restIn), parts, node);
    expect(parts.map(({ count }) => count)).toEqual([0, 3]);
    expect(parts[0].request.notBefore).toBeUndefined();
    expect([...parts[1].request.notBefore!]).toEqual([
      [other, 7],
      [node, NOW + wait],
    ]);
  });

  it('leave the node alone also if only one key is missing', () => {
    const [node, only] = [someNode(), part(4)];
    distributeKeys(range(10, 3, 70), [only], node);
    expect(only.request.notBefore!.get(node)).toBe(NOW + 70);
  });

  it('do not go to a request that has ended, but to the next one', () => {
    const parts = [part(3), part(3)] as const;
    parts[0].request.isSettled = true;
    distributeKeys(range(10, 3), parts, someNode());
    expect(parts[0].request).toMatchObject({ reserved: 0, batches: [] });
    expect(parts[1].request.batches[0]!.keys).toEqual(writeKeys(900, 10, SIZE, SPAN, 3, '02'));
  });

  it('make a request forget that the node failed, and only that node', () => {
    const [node, other] = [someNode(), someNode()];
    const error = new StoreError('failed');
    const parts = [part(1), part(1)] as const;
    for (const each of parts)
      each.request.failures = new Map([
        [node, error],
        [other, error],
      ]);
    distributeKeys(range(10, 1), parts, node);
    expect([...parts[0].request.failures!.keys()]).toEqual([other]);
    // Nothing was left for the second one.
    expect(parts[1].request.failures!.size).toBe(2);
    expect(parts[1].request.batches).toEqual([]);
  });
});
