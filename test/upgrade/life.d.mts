import type { acquireLease, FlakeGenerator, Sequences } from 'idsmith';
import type { openStore } from 'idsmith/stores';

/** The exported names of a release that its tests use. */
export interface Release {
  readonly acquireLease: typeof acquireLease;
  readonly FlakeGenerator: typeof FlakeGenerator;
  readonly Sequences: typeof Sequences;
  readonly openStore: typeof openStore;
}

/** The ids of each sequence that a release has given out, and its flakes. */
export type Given = Readonly<Record<string, readonly string[]>>;

export function urlFor(name: string, url: string): string;
export function live(release: Release, url: string): Promise<Given>;
