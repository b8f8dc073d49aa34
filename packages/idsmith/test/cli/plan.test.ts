import fc from 'fast-check';
import { defineLayout } from 'idsmith';
import { describe, expect, it } from 'vitest';
import type { Given } from '../../src/cli/command.ts';
import { planCommand } from '../../src/cli/plan.ts';
import { idsmith } from './in-process.ts';

interface Plan {
  readonly layouts: readonly { readonly name: string; readonly fits: boolean; readonly why: string }[];
  readonly own?: Parameters<typeof defineLayout>[0];
}

/** What `plan --json` prints, and the code with which it exits. */
function planned(load: Record<string, number>): { plan: Plan; exitCode: number } {
  const given = {
    text: (flag: string) => (load[flag] === undefined ? undefined : String(load[flag])),
    on: (flag: string) => flag === 'json',
  } as unknown as Given;
  let text = '';
  try {
    for (const line of planCommand.run(given) as Iterable<string>) text += line;
  } catch (error) {
    return { plan: JSON.parse(text), exitCode: (error as { exitCode: number }).exitCode };
  }
  return { plan: JSON.parse(text), exitCode: 0 };
}

describe('idsmith plan', () => {
  it('names all flags that are missing at once', async () => {
    const { status, stderr } = await idsmith('plan', '--nodes', '3');
    expect(status).toBe(2);
    expect(stderr).toContain('plan needs --rate, --years: idsmith plan --rate 50000 --nodes 200 --years 30');
  });

  it('exits with 1 when nothing fits, and says how many bits it would take', async () => {
    const args = ['plan', '--rate', '1000000000', '--nodes', '1000000', '--years', '300'];
    const { status, stdout, stderr } = await idsmith(...args);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^no +jflake/m);
    expect(stdout).not.toMatch(/^yes/m);
    expect(stderr).toBe(
      'idsmith: no layout of 64 bits fits: it would take 44 for time, 20 for nodes and 20 for the sequence, 84 in all\n',
    );
    const json = await idsmith(...args, '--json');
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout).layouts.every((layout: { fits: boolean }) => !layout.fits)).toBe(true);
  });

  it('proposes a layout only if it carries the load, and exits with 1 only if nothing does', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 1, max: 10_000 }),
        (rateBits, nodeBits, years) => {
          const [rate, nodes] = [2 ** rateBits, 2 ** nodeBits];
          const { plan, exitCode } = planned({ rate: Math.min(rate, 1e12), nodes, years });
          const isFit = plan.layouts.some(({ fits }) => fits);
          expect(exitCode).toBe(isFit || plan.own ? 0 : 1);
          if (plan.own === undefined) return;
          const layout = defineLayout(plan.own);
          expect(layout.nodes).toBeGreaterThanOrEqual(nodes);
          expect((layout.max('sequence') + 1) * 1000).toBeGreaterThanOrEqual(Math.min(rate, 1e12));
          expect(layout.expires.getTime() - Date.now()).toBeGreaterThan(years * 365 * 86_400_000);
        },
      ),
    );
  });

  it('does not take a time without end for one that fits', () => {
    const { plan } = planned({ rate: 1, nodes: 1, years: 10_000 });
    expect(plan.layouts.every(({ why }) => why.includes('ends too soon'))).toBe(true);
    expect(() => planned({ rate: 1, nodes: 1, years: 300_000 })).toThrow();
  });
});
