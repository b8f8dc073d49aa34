/** How far the tests go that could go on for ever: 0 in `npm test` and `npm run test:full`, 1 in `npm run test:long`, and 3 every night. */
export const depth = Number(process.env.TEST_DEPTH ?? 0);

/** A number of ids or tries that depends on the depth: all of them in `npm run test:long`, a quarter elsewhere. */
export function atDepth(count: number): number {
  return Math.ceil(count * (depth === 0 ? 1 / 4 : depth));
}
