import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../../src/stores/open.ts';

/** Files of a folder that this process has open. */
function openFiles(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${number}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      // The descriptor with which the folder itself was read.
      return [];
    }
  });
}

it.runIf(platform === 'linux')(
  'A SQLite store that is closed soon has no file open, with every driver',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-files-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // Held to the end: a program may keep a store that it has closed.
    const stores = [];
    let most = 0;
    for (let i = 0; i < 40; i++) {
      const store = await openStore(`sqlite:${join(folder, `ids-${i}.db`)}`);
      await store.listSequences();
      await store.listLeases('x');
      await store.close();
      stores.push(store);
      most = Math.max(most, openFiles(folder).length);
    }
    // Eight connections with three files each (see MOST_OPEN), and eight more whose finalisers have not run yet on a busy machine. Without a
    // collection, the files of all 40 connections are open.
    expect(most).toBeLessThan(2 * 8 * 3 + 1);
    expect(stores).toHaveLength(40);
  },
);
