import type { SequenceInfo } from 'idsmith';
import { invalidRequest } from '../http/problem.js';

// One page of a list of sequences. Pure: the list and the query are arguments.

/** The fields to sort by. With `-` in front, the largest comes first. Sequences with equal fields come by name. */
const SORT_FIELDS = ['name', 'next', 'blockSize', 'handedOut', 'runOut'] as const;

type SortField = (typeof SORT_FIELDS)[number];

/** The values of `sort`. */
export const SORTS: readonly string[] = SORT_FIELDS.flatMap((field) => [field, `-${field}`]);

/** A sequence, and the ids of it that this server has handed out. */
export interface ListedSequence extends SequenceInfo {
  readonly handedOut: number;
  /** Seconds until the sequence runs out; very many if it is not used. */
  readonly runOut: number;
}

/** The query of a page, after validation. */
export interface PageQuery {
  /** Only sequences whose names contain this text, in any case. */
  readonly q?: string | number;
  readonly sort?: string;
  /** The most sequences of the page. Without a limit the page has all. */
  readonly limit?: number;
  /** The place after which the page begins, from the page before. */
  readonly cursor?: string;
}

export interface Page {
  readonly sequences: ListedSequence[];
  /** The number of sequences on all pages. */
  readonly total: number;
  /** The cursor of the next page; `null` on the last page. */
  readonly cursor: string | null;
}

/** The place of a sequence in an order: the field that is sorted by, and the name. */
type Place = readonly [field: string | number | bigint, name: string];

/** @throws RequestProblem 422 if the cursor is not one of this order */
export function pageOf(all: readonly ListedSequence[], query: PageQuery): Page {
  const { q = '', sort = 'name', limit = all.length, cursor } = query;
  const isDescending = sort.startsWith('-');
  const field = (isDescending ? sort.slice(1) : sort) as SortField;
  const placeOf = (info: ListedSequence): Place => [info[field], info.name];
  const compare = (a: Place, b: Place) =>
    (isDescending ? -1 : 1) * compareValues(a[0], b[0]) || compareValues(a[1], b[1]);
  const wanted = String(q).toLowerCase();
  const found = all
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map((info) => ({ info, place: placeOf(info) }))
    .sort((a, b) => compare(a.place, b.place));
  const after = cursor === undefined ? undefined : readCursor(cursor, sort);
  const left = after === undefined ? found : found.filter(({ place }) => compare(place, after) > 0);
  const page = left.slice(0, limit);
  const last = page.at(-1);
  return {
    sequences: page.map(({ info }) => info),
    total: found.length,
    cursor: last !== undefined && left.length > page.length ? writeCursor(sort, last.place) : null,
  };
}

/** Compares texts by their code units: the order does not depend on the machine. */
function compareValues<T extends string | number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function writeCursor(sort: string, [field, name]: Place): string {
  const value = typeof field === 'bigint' ? String(field) : field;
  return Buffer.from(JSON.stringify([sort, value, name])).toString('base64url');
}

function readCursor(cursor: string, sort: string): Place {
  try {
    const [order, value, name] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const field = sort.endsWith('next') && typeof value === 'string' ? BigInt(value) : value;
    const expected = sort.endsWith('name') ? 'string' : sort.endsWith('next') ? 'bigint' : 'number';
    if (order === sort && typeof name === 'string' && typeof field === expected) return [field, name];
  } catch {
    // Not one of ours.
  }
  throw invalidRequest(
    `cursor must come from the page before, with the same sort (${sort}): start again without a cursor`,
  );
}
