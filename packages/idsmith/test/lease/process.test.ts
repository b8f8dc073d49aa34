import { layouts } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { inProcess } from '../support/workers.ts';

describe('a process with an active lease', () => {
  it('ends by itself: the timers do not keep it alive', async () => {
    const script = new URL('scripts/leaves-without-release.mjs', import.meta.url);
    const id = await inProcess(script);
    expect(layouts.jflake.decode(id.trim()).node).toBe(0);
  });

  it('waits for a lease to the end, though nothing else keeps it alive', async () => {
    const script = new URL('scripts/waits-for-a-silent-store.mjs', import.meta.url);
    expect(await inProcess(script)).toBe('acquire STORE\nrelease STORE\n');
  });
});
