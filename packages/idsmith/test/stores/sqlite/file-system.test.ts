import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from 'idsmith/stores';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { platformOf } from '../../../src/runtime/container.js';
import { judgeFileSystem } from '../../../src/stores/sqlite/file-system.js';

const TMPFS = 0x01021994;
const OVERLAY = 0x794c7630;
const NFS = 0x6969;
const EXT4 = 0xef53;
const NOTHING = { ephemeral: false, network: false };

describe('the file system of a SQLite file', () => {
  it('is fine if it is a disk', () => {
    expect(judgeFileSystem('/data/ids.db', EXT4, 'Kubernetes', NOTHING)).toEqual({ kind: 'fine' });
  });

  it.each([TMPFS, OVERLAY])(
    'is refused where copies of a container start, and it goes with them (%i)',
    (type) => {
      const verdict = judgeFileSystem('/app/ids.db', type, 'Kubernetes', NOTHING);
      expect(verdict).toMatchObject({ kind: 'refuse', message: expect.stringContaining('?ephemeral=true') });
      expect(judgeFileSystem('/app/ids.db', type, 'Kubernetes', { ...NOTHING, ephemeral: true }).kind).toBe(
        'fine',
      );
    },
  );

  it('is a warning elsewhere', () => {
    expect(judgeFileSystem('/tmp/ids.db', TMPFS, undefined, NOTHING).kind).toBe('warn');
  });

  it('is refused on a network, unless it is named', () => {
    const verdict = judgeFileSystem('/mnt/ids.db', NFS, undefined, { ...NOTHING, ephemeral: true });
    expect(verdict).toMatchObject({ kind: 'refuse', message: expect.stringContaining('?network=true') });
    expect(judgeFileSystem('/mnt/ids.db', NFS, 'ECS', { ...NOTHING, network: true }).kind).toBe('fine');
  });

  it('is known by the variables of platforms', () => {
    const named = (env: Record<string, string>) => (name: string) => env[name];
    expect(platformOf(named({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }))).toBe('Kubernetes');
    expect(platformOf(named({ AWS_LAMBDA_FUNCTION_NAME: 'f' }))).toBe('Lambda');
    expect(platformOf(named({ PATH: '/bin' }))).toBeUndefined();
  });
});

describe.runIf(isTmpfs('/dev/shm'))('a store in memory by its file system', () => {
  const folder = mkdtempSync(join(isTmpfs('/dev/shm') ? '/dev/shm' : tmpdir(), 'idsmith-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => vi.unstubAllEnvs());
  const url = (file: string) => `sqlite:${join(folder, file)}`;

  it('is refused in a pod, unless that is said', async () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.0.0.1');
    await expect(openStore(url('pod.db'))).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await (await openStore(`${url('pod.db')}?ephemeral=true`)).close();
  });

  it('is a warning elsewhere', async () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined);
    const warning = new Promise<unknown>((resolve) => process.once('warning', resolve));
    const store = await openStore(url('here.db'));
    expect(await warning).toMatchObject({ code: 'SQLITE_EPHEMERAL' });
    await store.close();
  });

  it('is refused with a wrong setting', async () => {
    await expect(openStore(`${url('x.db')}?ephemeral=yes`)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await expect(openStore(`${url('x.db')}?epehmeral=true`)).rejects.toThrow('ephemeral');
  });
});

function isTmpfs(path: string): boolean {
  try {
    return statfsSync(path).type === TMPFS;
  } catch {
    return false;
  }
}
