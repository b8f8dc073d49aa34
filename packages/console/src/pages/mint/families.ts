import { api, type MintQuery } from '../../api/routes.js';
import type { MintedJson, PublicPrefix } from '../../api/types.js';

export type MintFamily = 'flake' | 'locality' | 'uuid7' | 'sequence' | 'series' | 'key';

/** The options of all families. Each family reads its own. */
export interface MintOptions extends MintQuery {
  readonly mode: 'variable' | 'sequential';
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly period: (typeof PERIODS)[number];
  readonly tenant: string;
}

/** The periods after which the numbers of a series begin again. */
export const PERIODS = ['none', 'year', 'quarter', 'month', 'day'] as const;

interface FamilyEntry {
  readonly label: string;
  /** The purpose of the family, in one sentence. */
  readonly about: string;
  /** The kind of public ids that hold these ids; `undefined` for ids without a public form. */
  readonly publicKind: PublicPrefix['of'] | undefined;
  readonly mint: (query: MintQuery, options: MintOptions) => Promise<MintedJson>;
}

export const FAMILIES: Readonly<Record<MintFamily, FamilyEntry>> = {
  flake: {
    label: 'Flake',
    about: '64-bit ids, sorted by time. A leased node id makes them unique.',
    publicKind: 'int64',
    mint: (query) => api.flakes(query),
  },
  locality: {
    label: 'Locality UUID',
    about: '128-bit ids that decide where a row lands: spread over all shards, or kept together.',
    publicKind: 'uuid',
    mint: (query, { mode }) => api.locality(query, mode),
  },
  uuid7: {
    label: 'UUIDv7',
    about: 'Standard UUIDs of version 7, which increase. A leased node id makes them unique.',
    publicKind: 'uuid',
    mint: (query) => api.uuid7(query),
  },
  sequence: {
    label: 'Sequence',
    about: 'Ascending numbers, which the server takes from the store in blocks.',
    publicKind: 'int64',
    mint: (query, { name }) => api.sequenceIds(query, name.trim()),
  },
  series: {
    label: 'Series',
    about: 'Numbers that people print, such as INV-2026-000001. They may begin again with each period.',
    publicKind: undefined,
    mint: (query, { name, format, period, tenant }) =>
      api.seriesNumbers(query, name.trim(), {
        format,
        period,
        ...(tenant.trim() !== '' && { tenant: tenant.trim() }),
      }),
  },
  key: {
    label: 'Sharded key',
    about: 'Short base-62 keys that carry time and type, and route to a Redis node.',
    publicKind: undefined,
    mint: (query, { type }) => api.keys(query, type.trim()),
  },
};
