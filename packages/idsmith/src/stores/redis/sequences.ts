import { StoreError } from '../../errors.js';
import { show } from '../../options.js';
import { DURABLE, FORGETFUL, FORGOTTEN, VOUCHED } from '../../redis/script-constants.js';
import {
  ADVANCE_SEQUENCE,
  DELETE_SEQUENCE,
  INSERT_SEQUENCE,
  LIST_SEQUENCES,
  READ_SEQUENCE,
  REGISTER_SEQUENCE,
  SWAP_SEQUENCE,
  UNREGISTER_SEQUENCE,
} from '../../redis/scripts.js';
import type { SequenceRow } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { decodeRow, encodeDefinition } from '../definition.js';
import type { StoreScripts } from './schema.js';

/**
 * The set that registers all rows, because a Cluster cannot be searched for keys. Each generation of a row has an entry of its
 * own. The entry is added before the row is written and removed after the row is deleted. So every row has its entry, even if
 * several clients define and remove a sequence of the same name at the same time. A crash may leave an entry without a row.
 */
const REGISTER = ['idsmith:sequences'];

/** Rows in Redis: one hash for each row, so that a Cluster spreads the rows over its nodes. */
export function redisRows(runner: StoreScripts, durable: boolean): SequenceRows {
  /** The replication id of the server that each row was read from. A caller vouches only for the data of that server. */
  const servers = new WeakMap<SequenceRow, string>();
  const register = (row: SequenceRow) =>
    runner.run('registering a sequence', REGISTER_SEQUENCE, REGISTER, [entryOf(row.name, row.generation)]);
  const unregister = (name: string, generation: number) =>
    runner.run('unregistering a sequence', UNREGISTER_SEQUENCE, REGISTER, [entryOf(name, generation)]);

  async function read(name: string): Promise<SequenceRow | undefined> {
    const reply = await runner.run(`reading sequence ${show(name)}`, READ_SEQUENCE, [keyOf(name)]);
    const [definition, next, mark, server] = reply as unknown[];
    if (!definition) return undefined;
    const row = decodeRow(name, String(definition), String(next), mark ? String(mark) : undefined);
    servers.set(row, String(server));
    return row;
  }

  /** Runs a script that changes a row. Returns the `next` from before the change, or `undefined` if nothing was changed. */
  async function change(
    script: string,
    from: SequenceRow,
    to: SequenceRow,
    vouched: boolean,
    limits: bigint[],
  ): Promise<bigint | undefined> {
    const { name } = from;
    // The register may be on another node of a Cluster, which may have lost its entries.
    const isNewGeneration = from.generation !== to.generation;
    if (vouched || isNewGeneration) await register(to);
    const trust = vouched ? VOUCHED : durable ? DURABLE : FORGETFUL;
    const marks = from === to ? ['', ''] : [from.mark, to.mark];
    const server = vouched ? (servers.get(from) ?? '') : '';
    const definitions = [encodeDefinition(from), encodeDefinition(to)];
    const args = [trust, ...definitions, ...marks, server, ...limits.map(String)];
    const before = String(await runner.run(`changing sequence ${show(name)}`, script, [keyOf(name)], args));
    if (isNewGeneration && before !== FORGOTTEN)
      await unregister(name, (before === '' ? to : from).generation);
    if (before === FORGOTTEN) throw forgottenError(name);
    return before === '' ? undefined : BigInt(before);
  }

  return {
    async insert(row) {
      const { name, generation } = row;
      await register(row);
      const args = [encodeDefinition(row), String(row.next)];
      const reply = await runner.run(`defining sequence ${show(name)}`, INSERT_SEQUENCE, [keyOf(name)], args);
      const found = String(reply);
      // A client that sends commands again may find its own row.
      if (found === '' || decodeRow(name, found, '0').generation === generation) return true;
      await unregister(name, generation);
      return false;
    },

    read,

    async list() {
      const entries = (await runner.run('listing sequences', LIST_SEQUENCES, REGISTER)) as unknown[];
      const names = new Set(entries.map((entry) => nameOf(String(entry))));
      const rows = await Promise.all([...names].map(read));
      return rows.filter((row) => row !== undefined);
    },

    async swap(expected, next, vouched = false) {
      const limits = [expected.next, next.next];
      return (await change(SWAP_SEQUENCE, expected, next, vouched, limits)) !== undefined;
    },

    async delete({ name, generation }) {
      const operation = `removing sequence ${show(name)}`;
      const deleted = await runner.run(operation, DELETE_SEQUENCE, [keyOf(name)], [generation]);
      if (Number(deleted) === 1) await unregister(name, generation);
      return Number(deleted) === 1;
    },

    async advance(from, { delta, low, high }, to, vouched = false) {
      if (from.exhausted) return undefined;
      return change(ADVANCE_SEQUENCE, from, to, vouched, [low, high, delta]);
    },
  };
}

// The braces make a Cluster choose the slot by the name alone. The encoded name has no braces of its own.
const keyOf = (name: string) => `idsmith:sequence:{${encodeURIComponent(name)}}`;

const entryOf = (name: string, generation: number) => `${generation}:${name}`;
const nameOf = (entry: string) => entry.slice(entry.indexOf(':') + 1);

function forgottenError(name: string): StoreError {
  return new StoreError(
    `redis store: this Redis has restarted, failed over or begun to replicate, and may have forgotten ids that sequence ` +
      `${show(name)} has given out: alter its next to a value beyond all of these ids, or use a durable Redis`,
  );
}
