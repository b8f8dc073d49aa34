import { parseAst } from 'vitest/node';

// Source text with all its mutants, each behind a switch: `__mutant(7) ? changed : original`.

/** The source with a switch at every mutant. Mutants have numbers, and come in the order of `findMutants`. */
export function instrument(source, mutants) {
  return `const __mutant = globalThis.__mutantSwitch ?? (() => false);${render(source, nest(mutants), 0, source.length)}`;
}

/** The mutants as a tree: those of one place together, with the places inside it. */
function nest(mutants) {
  const root = { end: Number.POSITIVE_INFINITY, inner: [] };
  const path = [root];
  const places = mutants.flatMap((mutant) => mutant.places.map(({ start, end }) => ({ start, end, mutant })));
  for (const { start, end, mutant } of places.sort((a, b) => a.start - b.start || b.end - a.end)) {
    while (path.at(-1).end < end || path.at(-1).end <= start) path.pop();
    const last = path.at(-1);
    if (last.start === start && last.end === end) last.mutants.push(mutant);
    else {
      const place = { start, end, mutants: [mutant], inner: [] };
      last.inner.push(place);
      path.push(place);
    }
  }
  return root.inner;
}

function render(source, places, start, end) {
  let text = '';
  let at = start;
  for (const place of places) {
    text += source.slice(at, place.start) + switched(source, place);
    at = place.end;
  }
  return text + source.slice(at, end);
}

function switched(source, { start, end, mutants, inner }) {
  const original = render(source, inner, start, end);
  if (mutants[0].kind === 'statement removed') return `{ if (!__mutant(${mutants[0].number})) ${original} }`;
  const changed = mutants.map(({ number, code }) => `__mutant(${number}) ? (${code}) : `).join('');
  return `(${changed}(${original}))`;
}

/** Statements that run once for a file of tests: those that declare something. The others define its tests. */
const DECLARES = /Declaration$/;

/** Tells whether a statement prepares a whole file, or clears up after it. */
function isAroundAll({ type, expression }) {
  return type === 'ExpressionStatement' && /^(before|after)All$/.test(expression.callee?.name ?? '');
}

/** A test file whose tests are defined once for each mutant. Servers are started once, or for each mutant if a suite starts them. */
export function repeatTests(source) {
  const header = [];
  const tests = [];
  for (const statement of parseAst(source, { lang: 'ts' }).body) {
    const isOnce = DECLARES.test(statement.type) || isAroundAll(statement);
    (isOnce ? header : tests).push(source.slice(statement.start, statement.end));
  }
  return [
    'import { inject as __inject } from "vitest";',
    'import { repeat as __repeat } from "#mutate/switch";',
    ...header,
    `const __tests = async () => {\n${tests.join('\n')}\n};`,
    '__repeat(__inject("mutants"), __tests);',
  ].join('\n');
}
