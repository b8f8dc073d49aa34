// Runs in the process of the tests: decides which mutant is active, notes which ones a test reaches.

import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, inject, vi } from 'vitest';

const realTime = performance.now.bind(performance);

let active = 0;
let calls = 0;
let deadline = 0;
let reached;

/** True for the active mutant. Without one, notes that the place was reached. */
globalThis.__mutantSwitch = (number) => {
  if (active === 0) {
    if (reached) reached[number] = 1;
    return false;
  }
  // A mutant may never come to an end. It fails here, again and again, until its test ends.
  if ((++calls & 0xfff) === 0 && realTime() > deadline) throw new Error('mutant out of time');
  return number === active;
};

function activate(number) {
  active = number;
  calls = 0;
  deadline = realTime() + inject('limit');
  writeFileSync(inject('progress'), String(number));
}

/**
 * Defines the tests of a file: once for each mutant with those tests that reach the mutant, or once without a mutant.
 *
 * @param {Record<number, string[]>} mutants the names of the tests that reach a mutant; empty for the run without mutants
 */
export function repeat(mutants, define) {
  const entries = Object.entries(mutants);
  if (entries.length === 0) return observe(define);
  vi.setConfig({ testTimeout: inject('limit') });
  for (const [number, tests] of entries) {
    const group = `mutant ${number}`;
    describe(group, async () => {
      let isDead = false;
      beforeAll(() => activate(Number(number)));
      beforeEach(({ task, skip }) => {
        if (isDead || !tests.includes(nameOf(task))) skip();
      });
      afterEach(({ task }) => {
        isDead ||= task.result?.state === 'fail';
      });
      await define();
      afterAll(() => {
        active = 0;
      });
    });
  }
}

/** Runs the tests without a mutant, and notes what each of them reaches. What a file does by itself counts for all of its tests. */
function observe(define) {
  const size = inject('size');
  describe('mutant 0', async () => {
    beforeEach(() => {
      reached = new Uint8Array(size);
    });
    afterEach(({ task }) => {
      task.meta.reached = [...reached.keys()].filter((number) => reached[number]);
    });
    await define();
  });
}

/** The name of a test without the group of its mutant. */
function nameOf(task) {
  const names = [];
  for (let suite = task; suite; suite = suite.suite) names.unshift(suite.name);
  return names.slice(names.findIndex((name) => name.startsWith('mutant ')) + 1).join(' > ');
}
