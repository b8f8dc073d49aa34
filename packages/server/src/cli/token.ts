import process from 'node:process';
import { InvalidOptionError } from 'idsmith';
import { type Command, type Given, readInteger, table, UsageError } from 'idsmith/cli';
import {
  createToken,
  listTokens,
  revokeToken,
  type TokenFile,
  type TokenRecord,
  tokenFileOf,
} from '../auth/tokens.js';
import { readSettings } from '../config/read-settings.js';
import type { Scope } from '../http/caller.js';
import { MAX_COUNT } from '../http/schemas.js';

type Action = (file: TokenFile, given: Given) => AsyncIterable<string>;

const ACTIONS: Readonly<Record<string, Action>> = {
  async *create({ path }, given) {
    const name = required(given, 'name');
    // `createToken` checks the scopes.
    const scopes = required(given, 'scope')
      .split(',')
      .map((scope) => scope.trim() as Scope);
    const rate = readInteger(given, 'rate', 0, 1e9);
    const batch = readInteger(given, 'batch', 1, MAX_COUNT);
    const token = await createToken(path, {
      ...{ name, scopes },
      ...(rate !== undefined && { rate }),
      ...(batch !== undefined && { batch }),
    });
    yield given.on('json') ? JSON.stringify({ name, scopes, token }) : token;
  },
  async *list({ path, isNamed }, given) {
    const found = await listTokens(path);
    if (found === undefined && isNamed) throw new InvalidOptionError(`--tokens: ${path} does not exist`);
    const tokens = found ?? [];
    if (given.on('json')) yield JSON.stringify({ tokens: tokens.map(withoutHash) }, undefined, 2);
    else
      yield* table(
        ['id', 'name', 'scopes', 'rate', 'batch', 'created'],
        tokens.map(({ id, name, scopes, rate = '', batch = '', created }) =>
          [id, name, scopes.join(','), rate, batch, created].map(String),
        ),
      );
  },
  async *revoke({ path }, given) {
    const name = given.rest[1];
    if (name === undefined) throw new UsageError('token revoke needs the name or id of a token');
    await revokeToken(path, name);
    yield* [];
  },
};

export const tokenCommand: Command = {
  name: 'token',
  usage: 'create|list|revoke [NAME] [--tokens FILE]',
  summary: 'Create, list and revoke tokens of the server',
  example: 'idsmith token create --scope mint,lease --name ci',
  flags: {
    scope: { type: 'string', value: 'SCOPES', help: 'create: one or more of mint, lease, admin' },
    name: { type: 'string', value: 'NAME', help: 'create: a name for people' },
    rate: { type: 'string', value: 'N', help: 'create: requests per second; 0 means no limit' },
    batch: { type: 'string', value: 'N', help: 'create: the most ids of one call' },
    tokens: { type: 'string', value: 'FILE', help: 'token file; default idsmith.tokens.json' },
    config: { type: 'string', value: 'FILE', help: 'file with settings; default idsmith.config.json' },
  },
  run,
};

async function* run(given: Given): AsyncIterable<string> {
  const [word, , surplus] = given.rest;
  const action = Object.hasOwn(ACTIONS, word ?? '') ? ACTIONS[word as string] : undefined;
  if (action === undefined) throw new UsageError(`token needs one of ${Object.keys(ACTIONS).join(', ')}`);
  const extra = word === 'revoke' ? surplus : given.rest[1];
  if (extra !== undefined) throw new UsageError(`token ${word} takes no ${JSON.stringify(extra)}`);
  const flags = { tokens: given.text('tokens'), config: given.text('config') };
  const { tokens } = readSettings({ flags, env: process.env });
  const file = tokenFileOf(tokens);
  if (file === undefined)
    throw new InvalidOptionError('tokens is "none": name the token file with --tokens FILE');
  yield* action(file, given);
}

function required(given: Given, flag: string): string {
  const text = given.text(flag);
  if (text !== undefined) return text;
  throw new UsageError(`token create needs --${flag}, for example --scope mint,lease --name ci`);
}

/** The record without the hash, which nobody needs to see. */
function withoutHash({ id, name, scopes, rate, batch, created }: TokenRecord): object {
  return { id, name, scopes, rate, batch, created };
}
