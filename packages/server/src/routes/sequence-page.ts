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

/** A list in an order, of which pages are cut. */
export interface Ordered {
  readonly sequences: readonly ListedSequence[];
  readonly places: readonly Place[];
  readonly compare: (a: Place, b: Place) => number;
}

/** The sequences that a query means, in its order. */
export function orderOf(all: readonly ListedSequence[], { q = '', sort = 'name' }: PageQuery): Ordered {
  const isDescending = sort.startsWith('-');
  const field = (isDescending ? sort.slice(1) : sort) as SortField;
  const compare = (a: Place, b: Place) =>
    (isDescending ? -1 : 1) * compareValues(a[0], b[0]) || compareValues(a[1], b[1]);
  const wanted = String(q).toLowerCase();
  const found = all
    .filter(({ name }) => wanted === '' || name.toLowerCase().includes(wanted))
    .map((info) => ({ info, place: [info[field], info.name] as Place }))
    .sort((a, b) => compare(a.place, b.place));
  return { sequences: found.map(({ info }) => info), places: found.map(({ place }) => place), compare };
}

/** @throws RequestProblem 422 if the cursor is not one of this order */
export function pageOf({ sequences, places, compare }: Ordered, query: PageQuery): Page {
  const { sort = 'name', limit = sequences.length, cursor } = query;
  const after = cursor === undefined ? undefined : readCursor(cursor, sort);
  let [from, to] = [0, after === undefined ? 0 : places.length];
  // The first place behind the cursor, by halves.
  while (after !== undefined && from < to) {
    const middle = (from + to) >> 1;
    if (compare(places[middle] as Place, after) > 0) to = middle;
    else from = middle + 1;
  }
  const end = Math.min(from + limit, sequences.length);
  const last = places[end - 1];
  return {
    sequences: sequences.slice(from, end),
    total: sequences.length,
    cursor: last !== undefined && end > from && end < sequences.length ? writeCursor(sort, last) : null,
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
