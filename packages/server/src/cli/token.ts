import { InvalidOptionError } from 'idsmith';
import {
  type Command,
  type CommandGroup,
  type Flag,
  type Given,
  readInteger,
  table,
  UsageError,
} from 'idsmith/internal/cli';
import {
  createToken,
  listTokens,
  readExpiry,
  revokeToken,
  type TokenFile,
  type TokenRecord,
  tokenFileOf,
} from '../auth/tokens.js';
import { readSettings } from '../config/read-settings.js';
import type { Scope } from '../http/route.js';
import { MAX_COUNT } from '../http/schemas.js';

const FILES: Readonly<Record<string, Flag>> = {
  tokens: { type: 'string', value: 'FILE', help: 'token file; default idsmith.tokens.json' },
  config: { type: 'string', value: 'FILE', help: 'file with settings; default idsmith.config.json' },
};

const create: Command = {
  name: 'token create',
  usage: '--name NAME --scope SCOPES [--tokens FILE]',
  summary: 'Create a token, and print it once',
  example: 'idsmith token create --scope mint,lease --name ci',
  flags: {
    scope: { type: 'string', value: 'SCOPES', help: 'one or more of mint, lease, admin' },
    name: { type: 'string', value: 'NAME', help: 'a name for people' },
    rate: { type: 'string', value: 'N', help: 'requests per second; 0 means no limit' },
    batch: { type: 'string', value: 'N', help: 'the most ids of one call' },
    expires: {
      type: 'string',
      value: 'TIME',
      help: 'the end of the token: 90d, 12h, or a day such as 2027-01-31',
    },
    ...FILES,
  },
  async *run(given) {
    const name = required(given, 'name');
    // `createToken` checks the scopes.
    const scopes = required(given, 'scope')
      .split(',')
      .map((scope) => scope.trim() as Scope);
    const rate = readInteger(given, 'rate', 0, 1e9);
    const batch = readInteger(given, 'batch', 1, MAX_COUNT);
    const end = given.text('expires');
    const expires = end === undefined ? undefined : readExpiry(end, Date.now(), '--expires');
    const token = await createToken(fileOf(given).path, {
      name,
      scopes,
      ...(rate !== undefined && { rate }),
      ...(batch !== undefined && { batch }),
      ...(expires !== undefined && { expires }),
    });
    yield given.on('json') ? JSON.stringify({ name, scopes, token }) : token;
  },
};

const list: Command = {
  name: 'token list',
  usage: '[--tokens FILE]',
  summary: 'List the tokens, without the secrets',
  example: 'idsmith token list',
  flags: FILES,
  async *run(given) {
    const { path, isNamed } = fileOf(given);
    const found = await listTokens(path);
    if (found === undefined && isNamed) throw new InvalidOptionError(`--tokens: ${path} does not exist`);
    const tokens = found ?? [];
    if (given.on('json')) yield JSON.stringify({ tokens: tokens.map(withoutHash) }, undefined, 2);
    else if (tokens.length === 0)
      yield `there are no tokens in ${path}: idsmith token create --scope mint,lease --name ci makes one`;
    else
      yield* table(
        ['id', 'name', 'scopes', 'rate', 'batch', 'created', 'expires'],
        tokens.map(({ id, name, scopes, rate = '', batch = '', created, expires = '' }) =>
          [id, name, scopes.join(','), rate, batch, created, expires].map(String),
        ),
      );
  },
};

const revoke: Command = {
  name: 'token revoke',
  usage: 'NAME [--tokens FILE]',
  summary: 'Revoke the token with this name or id',
  example: 'idsmith token revoke ci',
  flags: FILES,
  operands: 1,
  async *run(given) {
    const [name] = given.rest;
    if (name === undefined) throw new UsageError('token revoke needs the name or id of a token');
    await revokeToken(fileOf(given).path, name);
    yield* [];
  },
};

export const tokenCommands: CommandGroup = {
  name: 'token',
  summary: 'Create, list and revoke tokens of the server',
  commands: [create, list, revoke],
};

function fileOf(given: Given): TokenFile {
  const flags = { tokens: given.text('tokens'), config: given.text('config') };
  const file = tokenFileOf(readSettings({ flags, env: given.io.env }).tokens);
  if (file !== undefined) return file;
  throw new InvalidOptionError('tokens is "none": name the token file with --tokens FILE');
}

function required(given: Given, flag: string): string {
  const text = given.text(flag);
  if (text !== undefined) return text;
  throw new UsageError(`token create needs --${flag}, for example --scope mint,lease --name ci`);
}

/** The record without the hash, which nobody needs to see. */
function withoutHash({ hash: _, ...shown }: TokenRecord): object {
  return shown;
}
