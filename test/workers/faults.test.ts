import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { behindProxy, NODE_IDS, runChaos, showChaosReport, type TrialStore } from '@idsmith/verify';
import { describe, expect, it } from 'vitest';
import { depth } from '../depth.ts';
import type { ServerProcess } from '../services/process.ts';
import { startSqld } from './sqld.ts';
import { startStatements } from './statements.ts';

// As `npm run lab -- chaos` and `idsmith verify`, on the stores whose servers are in this folder. CHAOS_SECONDS=60 and CHAOS_SEED=1 make longer
// and other runs of chaos.

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

interface Server {
  start(): Promise<ServerProcess>;
  /** What processes open. */
  targetOf(url: string): TrialStore['target'];
}

/** Processes find the address of the Worker in their environment, so there is one such run at a time. */
const throughWorker = (path: string): Server => ({
  start: startStatements,
  targetOf(url) {
    process.env.STATEMENTS = url + path;
    return { module: fileOf('remote-store.mjs') };
  },
});

const SERVERS: Record<string, Server> = {
  libSQL: { start: startSqld, targetOf: (url) => ({ url }) },
  D1: throughWorker('/d1'),
  'a Durable Object': throughWorker('/object'),
};

// Conformance of all three is tested beside this file; `npm run test:long` has the faults on all three, too.
describe.each(Object.entries(SERVERS).slice(0, depth > 0 ? 3 : 1))(
  'Processes that mint with leases from %s',
  (name, server) => {
    it('never hand out an id twice, and go on when faults are over', { timeout: 700_000 }, async () => {
      const setup = {
        families: ['flakes', 'locality'] as const,
        hasClock: true,
        maxSkew: 200,
        minting: NODE_IDS,
        start: async () => behindProxy(await server.start(), server.targetOf),
      };
      const { CHAOS_SEED = '20261117', CHAOS_SECONDS = '0' } = process.env;
      const options = { seed: Number(CHAOS_SEED), seconds: Number(CHAOS_SECONDS) };
      const report = await runChaos(name.replaceAll(' ', '-'), setup, options);
      expect(report.problems, showChaosReport(report)).toEqual([]);
      expect(report.ids).toBeGreaterThan(1000);
      expect(Object.keys(report.faults)).toEqual(
        expect.arrayContaining(['store restarted', 'store crashed', 'store paused']),
      );
      console.log(showChaosReport(report));
    });

    it('pass idsmith verify', async ({ onTestFinished }) => {
      const running = await server.start();
      onTestFinished(() => running.stop());
      const target = server.targetOf(running.url) as { url: string } | { module: string };
      const store = 'url' in target ? ['--store', target.url] : ['--store-module', target.module];
      const short = ['--minutes', '0.05', '--processes', '2', '--seed', '3'];
      const bin = fileOf('node_modules/idsmith/bin/idsmith.js');
      const { stdout } = await promisify(execFile)(process.execPath, [bin, 'verify', ...store, ...short]);
      expect(stdout).toMatch(/^cases {4}(\d+) of \1 passed$/m);
      expect(stdout).toContain('PASSED');
      expect(stdout).not.toMatch(/^left/m);
      console.log(stdout);
    });
  },
);
