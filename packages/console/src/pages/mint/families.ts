import { api } from '../../api/routes.js';

export type MintFamily = 'flake' | 'locality' | 'sequence' | 'key';

/** What can be set before ids are minted; each family reads its own. */
export interface MintOptions {
  readonly count: string;
  readonly mode: 'variable' | 'sequential';
  readonly name: string;
  readonly type: string;
}

interface FamilyEntry {
  readonly label: string;
  /** What it is for, in a sentence. */
  readonly about: string;
  readonly mint: (options: MintOptions) => Promise<string[]>;
}

export const FAMILIES: Readonly<Record<MintFamily, FamilyEntry>> = {
  flake: {
    label: 'Flake',
    about: '64 bits, sorted by time, unique by a leased node id.',
    mint: ({ count }) => api.flakes(count),
  },
  locality: {
    label: 'Locality UUID',
    about: '128 bits that decide where a row lands: spread over all shards, or kept together.',
    mint: ({ count, mode }) => api.locality(count, mode),
  },
  sequence: {
    label: 'Sequence',
    about: 'Ascending numbers, handed out in blocks from the store.',
    mint: ({ count, name }) => api.sequenceIds(name.trim(), count),
  },
  key: {
    label: 'Sharded key',
    about: 'Short base-62 keys that carry time and type, and lead to a Redis node.',
    mint: ({ count, type }) => api.keys(count, type.trim()),
  },
};
