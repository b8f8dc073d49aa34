import { api } from '../../api/routes.js';

export type MintFamily = 'flake' | 'locality' | 'sequence' | 'key';

/** The options of all families. Each family reads its own. */
export interface MintOptions {
  readonly count: string;
  readonly mode: 'variable' | 'sequential';
  readonly name: string;
  readonly type: string;
}

interface FamilyEntry {
  readonly label: string;
  /** The purpose of the family, in one sentence. */
  readonly about: string;
  readonly mint: (options: MintOptions) => Promise<string[]>;
}

export const FAMILIES: Readonly<Record<MintFamily, FamilyEntry>> = {
  flake: {
    label: 'Flake',
    about: '64-bit ids, sorted by time. A leased node id makes them unique.',
    mint: ({ count }) => api.flakes(count),
  },
  locality: {
    label: 'Locality UUID',
    about: '128-bit ids that decide where a row lands: spread over all shards, or kept together.',
    mint: ({ count, mode }) => api.locality(count, mode),
  },
  sequence: {
    label: 'Sequence',
    about: 'Ascending numbers, which the server takes from the store in blocks.',
    mint: ({ count, name }) => api.sequenceIds(name.trim(), count),
  },
  key: {
    label: 'Sharded key',
    about: 'Short base-62 keys that carry time and type, and route to a Redis node.',
    mint: ({ count, type }) => api.keys(count, type.trim()),
  },
};
