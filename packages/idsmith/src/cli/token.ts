import process from 'node:process';
import { InvalidOptionError } from '../errors.js';
import { type Command, type Given, readInteger, UsageError } from './command.js';
import { table } from './output.js';
import { loadServer, type ServerPackage, type TokenRecord } from './server.js';

type File = NonNullable<ReturnType<ServerPackage['tokenFileOf']>>;
type Action = (server: ServerPackage, file: File, given: Given) => AsyncIterable<string>;

const ACTIONS: Record<string, Action> = {
  async *create(server, { path }, given) {
    const name = required(given, 'name');
    const scopes = required(given, 'scope')
      .split(',')
      .map((scope) => scope.trim());
    const rate = readInteger(given, 'rate', 0, 1e9);
    const batch = readInteger(given, 'batch', 1, 10_000);
    const token = await server.createToken(path, {
      ...{ name, scopes },
      ...(rate !== undefined && { rate }),
      ...(batch !== undefined && { batch }),
    });
    yield given.on('json') ? JSON.stringify({ name, scopes, token }) : token;
  },
  async *list(server, { path, isNamed }, given) {
    const found = await server.listTokens(path);
    if (found === undefined && isNamed) throw new InvalidOptionError(`--tokens: ${path} is not there`);
    const tokens = found ?? [];
    if (given.on('json')) yield JSON.stringify({ tokens: tokens.map(shown) }, undefined, 2);
    else
      yield* table(
        ['id', 'name', 'scopes', 'rate', 'batch', 'created'],
        tokens.map(({ id, name, scopes, rate = '', batch = '', created }) =>
          [id, name, scopes.join(','), rate, batch, created].map(String),
        ),
      );
  },
  async *revoke(server, { path }, given) {
    const name = given.rest[1];
    if (name === undefined) throw new UsageError('token revoke needs the name or id of a token');
    await server.revokeToken(path, name);
    yield* [];
  },
};

export const tokenCommand: Command = {
  name: 'token',
  usage: 'create|list|revoke [NAME] [--tokens FILE]',
  summary: 'Tokens of the server: make, list and revoke them',
  example: 'idsmith token create --scope mint,lease --name ci',
  flags: {
    scope: { type: 'string', value: 'SCOPES', help: 'create: of mint, lease, admin' },
    name: { type: 'string', value: 'NAME', help: 'create: for people' },
    rate: { type: 'string', value: 'N', help: 'create: requests a second; 0 is no limit' },
    batch: { type: 'string', value: 'N', help: 'create: the most ids of one call' },
    tokens: { type: 'string', value: 'FILE', help: 'default idsmith.tokens.json' },
    config: { type: 'string', value: 'FILE', help: 'settings, default idsmith.config.json' },
  },
  run,
};

async function* run(given: Given): AsyncIterable<string> {
  const [word, , surplus] = given.rest;
  const action = Object.hasOwn(ACTIONS, word ?? '') ? ACTIONS[word as string] : undefined;
  if (action === undefined) throw new UsageError(`token needs one of ${Object.keys(ACTIONS).join(', ')}`);
  const extra = word === 'revoke' ? surplus : given.rest[1];
  if (extra !== undefined) throw new UsageError(`token ${word} takes no ${JSON.stringify(extra)}`);
  const server = await loadServer();
  const flags = { tokens: given.text('tokens'), config: given.text('config') };
  const { tokens } = server.readSettings({ flags, env: process.env });
  const file = server.tokenFileOf(tokens);
  if (file === undefined)
    throw new InvalidOptionError('tokens is "none": name the file of the tokens with --tokens FILE');
  yield* action(server, file, given);
}

function required(given: Given, flag: string): string {
  const text = given.text(flag);
  if (text !== undefined) return text;
  throw new UsageError(`token create needs --${flag}, for example --scope mint,lease --name ci`);
}

/** Not even the hash is anybody's business. */
function shown({ id, name, scopes, rate, batch, created }: TokenRecord): object {
  return { id, name, scopes, rate, batch, created };
}
