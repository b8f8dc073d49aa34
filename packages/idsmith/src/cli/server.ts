import type { Reading } from '../inspect/reading.js';
import { loadPackage } from '../support/load-package.js';

/** What the commands need of `@idsmith/server`, which is a package of its own. */
export interface ServerPackage {
  readSettings(sources: {
    flags: Readonly<Record<string, string | undefined>>;
    env: Readonly<Record<string, string | undefined>>;
    warn?: (warning: string) => void;
  }): { readonly tokens: string };
  startServer(
    settings: object,
    parts: { inspect(id: string): Reading[]; warnings?: readonly string[] },
  ): Promise<{ readonly url: string; close(): Promise<void> }>;
  firstSignal(): Promise<void>;
  createToken(file: string, options: TokenOptions): Promise<string>;
  revokeToken(file: string, nameOrId: string): Promise<void>;
  tokenFileOf(setting: string): { readonly path: string; readonly isNamed: boolean } | undefined;
  listTokens(file: string): Promise<TokenRecord[] | undefined>;
}

interface TokenOptions {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly rate?: number;
  readonly batch?: number;
}

export interface TokenRecord extends TokenOptions {
  readonly id: string;
  readonly created: string;
}

/** @throws StoreError naming the package if it is not installed */
export function loadServer(): Promise<ServerPackage> {
  // Not written as a literal: this package is built before that one, and does without it.
  const name = '@idsmith/server';
  return loadPackage(name, () => import(name));
}
