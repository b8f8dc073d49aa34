import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidOptionError, memoryStore } from 'idsmith';
import { afterAll, describe, expect, it } from 'vitest';
import { serveCommand } from '../../src/cli/serve.ts';
import { flagOf, SETTINGS } from '../../src/config/settings.ts';
import { readSettings, startServer } from '../../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A config file with that text. */
function file(text: string | Buffer): string {
  const path = join(folder, 'idsmith.config.json');
  writeFileSync(path, text);
  return path;
}

describe('Settings', () => {
  it('have defaults: this machine, port 7600 and an embedded store', () => {
    expect(readSettings({})).toMatchObject({ host: '127.0.0.1', port: 7600, store: 'sqlite:./ids.db' });
  });

  it('come from flags, then variables, then the file', () => {
    const config = file('{"port": 1, "host": "h1", "log": "error", "maxInFlight": 7}');
    const env = { IDSMITH_PORT: '2', IDSMITH_HOST: 'h2', IDSMITH_CONFIG: config, IDSMITH_LOG: '' };
    expect(readSettings({ flags: { port: '3' }, env })).toMatchObject({
      port: 3,
      host: 'h2',
      log: 'error',
      maxInFlight: 7,
    });
    expect(readSettings({ env: { IDSMITH_MAX_IN_FLIGHT: '9' } }).maxInFlight).toBe(9);
  });

  it('are all flags of the command, and the command has no others', () => {
    const flags = Object.keys(serveCommand.flags).sort();
    expect(flags).toEqual([...Object.keys(SETTINGS).map(flagOf), 'config'].sort());
    for (const [name, { fallback }] of Object.entries(SETTINGS))
      if (typeof fallback === 'number')
        expect(serveCommand.flags[flagOf(name)]?.help).toContain(String(fallback));
  });

  it.each<[string, Parameters<typeof readSettings>[0], string]>([
    ['a flag', { flags: { port: '99999' } }, '--port must be a whole number from 0 to 65535, not "99999"'],
    [
      'a variable',
      { env: { IDSMITH_LOG: 'loud' } },
      'IDSMITH_LOG must be "silent" or "error" or "info" or "requests", not "loud"',
    ],
    ['a layout', { flags: { layout: 'jflak' } }, '--layout must be "jflake" or'],
    ['an empty flag', { flags: { store: '' } }, '--store must be the URL of a store'],
    ...['ids.example.com', 'https://a/b', 'ftp://a', 'https://user@a', '*', 'null'].map(
      (origin): [string, Parameters<typeof readSettings>[0], string] => [
        `the origin ${origin}`,
        { flags: { origin } },
        `--origin must be the origin of a site, such as https://ids.example.com, not "${origin}"`,
      ],
    ),
    ['a host', { flags: { host: 'a b' } }, '--host must be an address or host name'],
    ['a file that is not there', { flags: { config: '/nowhere.json' } }, '/nowhere.json cannot be read'],
  ])('that are wrong are named, with where they came from: %s', (_, sources, message) => {
    expect(() => readSettings(sources)).toThrow(InvalidOptionError);
    expect(() => readSettings(sources)).toThrow(message);
  });

  it('are checked also when a program gives them', async () => {
    const start = (settings: object) => startServer(settings, { store: memoryStore() });
    await expect(start({ port: -1 })).rejects.toThrow('port must be a whole number from 0 to 65535, not -1');
    await expect(start({ prot: 1 })).rejects.toThrow(
      'the settings: unknown name "prot"; did you mean "port"?',
    );
    const misspelt = startServer({ tokens: 'none' }, { stoer: memoryStore() } as never);
    await expect(misspelt).rejects.toThrow('unknown name "stoer"; did you mean "store"?');
  });

  it('with names that nobody knows are refused, and variables warned of', () => {
    const misspelt = { falgs: {} };
    expect(() => readSettings(misspelt as object)).toThrow('unknown name "falgs"; did you mean "flags"?');
    expect(() => readSettings({ flags: { tokns: 'x' } })).toThrow('did you mean "tokens"?');
    const warnings: string[] = [];
    const env = {
      IDSMITH_TOKNES: 'x',
      IDSMITH_EMPTY: '',
      OTHER: 'x',
      IDSMITH_LOG: 'info',
      IDSMITH_CONFIG: '',
    };
    readSettings({ env, warn: (warning) => warnings.push(warning) });
    expect(warnings).toEqual([
      expect.stringMatching(/unknown name "IDSMITH_TOKNES"; did you mean "IDSMITH_TOKENS"\?/),
    ]);
  });

  it.each([
    ['{"port": "x"}', /^port in \S+idsmith.config.json must be a whole number/],
    ['{"port": 1.5}', /^port in \S+ must be a whole number from 0 to 65535, not 1.5$/],
    ['{"grace": {}}', /^grace in \S+ must be a whole number .* not an object$/],
    [
      '{"prot": 1}',
      /^\S+idsmith.config.json: unknown name "prot"; did you mean "port"\? \(known: host, port, /,
    ],
    ['[]', /must hold a JSON object$/],
    ['{"store": "postgres://u:hunter2@h', /cannot be read: the text is not valid JSON$/],
  ])('of the file %s are refused', (text, message) => {
    const flags = { config: file(text) };
    expect(() => readSettings({ flags })).toThrow(message);
    expect(() => readSettings({ flags })).not.toThrow('hunter2');
  });

  it('of a file that is not UTF-8 are refused: every such byte would become the same character', () => {
    const latin1 = Buffer.from('{\n"store": "sqlite:./tr\u00e8s.db"}', 'latin1');
    expect(() => readSettings({ flags: { config: file(latin1) } })).toThrow(
      /idsmith.config.json, line 2: not UTF-8/,
    );
  });
});
