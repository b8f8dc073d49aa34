import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TestServer } from '../support/server.ts';

describe('The files of a console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-assets-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>console</title>');
  writeFileSync(join(folder, 'assets', 'app-B3xK9f2a.js'), 'export {}');
  writeFileSync(join(folder, 'assets', 'style.css'), 'body {}');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are served from their folder and from nowhere else', async () => {
    const here = await TestServer.prepare({ assets: folder });
    const page = await here.get('/');
    expect(page.text).toContain('<title>console</title>');
    const script = await here.get('/assets/app-B3xK9f2a.js');
    expect(script.text).toBe('export {}');
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const style = await here.get('/assets/style.css?v=1');
    expect(style.headers.get('cache-control')).toBe('no-cache');
    for (const path of [
      '/assets',
      '/assets/',
      '/assets/../index.htm',
      '/..%2f..%2fetc%2fpasswd',
      '/assets/x.js',
    ]) {
      const { status, headers } = await here.get(path);
      expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8']);
    }
    expect((await here.post('/assets/style.css')).status).toBe(404);
    await here.stop();
  });

  it.each(['nonsense', 'assets'])('must be there: %s is no folder with a page', async (name) => {
    await expect(TestServer.prepare({ assets: join(folder, name) })).rejects.toThrow(/^assets: /);
  });
});
