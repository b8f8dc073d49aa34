import axe from 'axe-core';
import type { Visit } from './console.ts';

/** The findings of axe that keep a user from using the page. */
export async function findings(visit: Visit): Promise<string[]> {
  const results = await visit.page.evaluate<axe.AxeResults>(
    `${axe.source}; axe.run({ resultTypes: ['violations'], preload: false })`,
  );
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}
