import { expect, it } from 'vitest';
import { eventsOf, setUp } from './set-up.ts';

/** More steps of the event loop's microtasks than there are between a claim in the store and the end of the replacement. */
const STEPS = 60;

/** Releases a lease `steps` microtasks after the store has given it another node id. */
async function releaseAfter(steps: number) {
  const { time, store, inner, lease } = setUp();
  const held = await lease();
  const seen = eventsOf(held);
  let released: Promise<void> | undefined;
  const releaseSoon = async () => {
    for (let step = 0; step < steps; step++) await null;
    released = held.release();
  };
  store.swapLease = async (...question) => {
    const isDone = await inner.swapLease(...question);
    if (question[2].owner !== null && released === undefined) void releaseSoon();
    return isDone;
  };
  held.fence();
  await time.advance(1000);
  await released;
  const owners = (await inner.listLeases('test')).map(({ owner }) => owner);
  return { owners, seen };
}

it('A lease that is released while another node id is acquired holds nothing at the end, whatever the moment', async () => {
  const isReacquired: boolean[] = [];
  for (let steps = 0; steps < STEPS; steps++) {
    const { owners, seen } = await releaseAfter(steps);
    expect([steps, owners]).toEqual([steps, [null, null]]);
    expect(seen.at(-1)).toBe('released');
    isReacquired.push(seen.includes('reacquired'));
  }
  // The moments reach from before the end of the replacement to after it, and leave none out.
  expect([isReacquired[0], isReacquired.at(-1)]).toEqual([false, true]);
});
