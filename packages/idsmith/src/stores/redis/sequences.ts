import { type StoreError, StoreWentBackError } from '../../errors.js';
import { TRIAL } from '../../lease/namespace.js';
import { show } from '../../options.js';
import type { SequenceRow } from '../../sequence/blocks.js';
import type { BareRecords } from '../../sequence/past.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { decodeRow, encodeDefinition } from '../definition.js';
import type { Registry } from './registry.js';
import type { StoreScripts } from './schema.js';
import {
  ADVANCE_SEQUENCE,
  DELETE_SEQUENCE,
  INSERT_SEQUENCE,
  READ_SEQUENCE,
  SWAP_SEQUENCE,
  WRITE_PAST,
} from './scripts.js';

/** Rows in Redis: one hash for each row, so that a Cluster spreads the rows over its nodes. */
export function redisRows(scripts: StoreScripts, registry: Registry, durable: boolean): SequenceRows {
  /** The row, the lineage in which it was last known to be whole, and the present moment. */
  async function look(name: string) {
    const reply = await scripts.run(`reading sequence ${show(name)}`, READ_SEQUENCE, [keyOf(name)]);
    const [definition, next, mark, past, server, ...time] = reply as unknown[];
    const lineage = durable ? undefined : String(server);
    const row = definition
      ? { ...decodeRow(name, String(definition), String(next), mark ? String(mark) : undefined), lineage }
      : undefined;
    return { row, past: past ? String(past) : undefined, lineage, now: redisMs(time) };
  }

  const read = async (name: string): Promise<SequenceRow | undefined> => (await look(name)).row;

  /** Runs a script that changes a row. Returns the `next` from before the change, or `undefined` if nothing was changed. */
  async function change(
    script: string,
    from: SequenceRow,
    to: SequenceRow,
    limits: bigint[],
  ): Promise<bigint | undefined> {
    const { name, lineage = '' } = from;
    const marks = from === to ? ['', ''] : [from.mark, to.mark];
    const args = [lineage, encodeDefinition(from), encodeDefinition(to), ...marks, ...limits.map(String)];
    const before = String(await scripts.run(`changing sequence ${show(name)}`, script, [keyOf(name)], args));
    return before === '' ? undefined : BigInt(before);
  }

  const past: BareRecords = {
    hasCeilings: false,

    async read(name) {
      const { past, lineage, now } = await look(name);
      return { now, lineage, past: past === undefined ? undefined : { lineage: past, ceiling: undefined } };
    },

    async write(name, expected, { lineage }) {
      const takeBack = await registry.noteUse(name);
      const args = [expected?.lineage ?? '', lineage, lineage];
      const written = await scripts.run(`confirming sequence ${show(name)}`, WRITE_PAST, [keyOf(name)], args);
      if (Number(written) < 0) await takeBack();
      return Number(written) === 1;
    },

    async distrust(name) {
      const { past = '' } = await look(name);
      const args = [past, 'restored', ''];
      await scripts.run(`marking sequence ${show(name)}`, WRITE_PAST, [keyOf(name)], args);
    },

    forgotten,
  };

  return {
    async insert(row, isConfirmed) {
      const { name, generation } = row;
      // A trial has a name that nobody has ever used.
      const isNew = durable || isConfirmed || name.startsWith(TRIAL);
      const refusal = isNew ? undefined : await registry.refusalOf(name);
      if (refusal !== undefined) {
        if ((await read(name)) !== undefined) return false;
        throw refusal;
      }
      await registry.listSequence(name);
      const args = [encodeDefinition(row), String(row.next)];
      const reply = await scripts.run(
        `defining sequence ${show(name)}`,
        INSERT_SEQUENCE,
        [keyOf(name)],
        args,
      );
      const found = String(reply);
      // A client that sends commands again may find its own row.
      return found === '' || decodeRow(name, found, '0').generation === generation;
    },

    read,

    async list() {
      const rows = await Promise.all((await registry.names('sequence')).map(read));
      return rows.filter((row) => row !== undefined);
    },

    async swap(expected, next) {
      return (await change(SWAP_SEQUENCE, expected, next, [expected.next, next.next])) !== undefined;
    },

    async delete({ name, generation }) {
      await registry.noteRemoval(name);
      const operation = `removing sequence ${show(name)}`;
      const deleted = await scripts.run(operation, DELETE_SEQUENCE, [keyOf(name)], [generation]);
      if (Number(deleted) === 1) await registry.removeSequence(name);
      return Number(deleted) === 1;
    },

    async advance(from, { delta, low, high }, to) {
      if (from.exhausted) return undefined;
      return change(ADVANCE_SEQUENCE, from, to, [low, high, delta]);
    },

    ...(!durable && { past }),
  };
}

// The braces make a Cluster choose the slot by the name alone. The encoded name has no braces of its own.
const keyOf = (name: string) => `idsmith:sequence:{${encodeURIComponent(name)}}`;

/** The time of a reply: seconds, and microseconds. */
export function redisMs(reply: unknown[]): number {
  const [seconds, micros] = reply.map(Number) as [number, number];
  return seconds * 1000 + Math.floor(micros / 1000);
}

function forgotten(name: string): StoreError {
  return new StoreWentBackError(
    `redis store: this Redis has restarted, failed over or begun to replicate, and may have forgotten ids that sequence ` +
      `${show(name)} has given out: alter its next to a value beyond all of these ids (idsmith seq alter NAME --next BEYOND --store URL), or use a ` +
      'durable Redis',
  );
}
