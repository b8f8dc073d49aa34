import { requireChoice, requireInteger } from '../../options.js';
import type { SequenceStore } from '../../sequence/port.js';
import type { Values } from './dialect.js';
import { plainText } from './values.js';

// The lineage of a database: see `docs/lineage.md`. The database compares it itself, in the statement that makes a change.

/** Options of a store in a database that may go back in time. */
export interface LineageOptions {
  /**
   * True if a failover loses no write: the standby is synchronous, or shares the storage. Then leases do not wait after a failover, and
   * sequences do not jump. All processes of a store must agree. Default `false`.
   */
  readonly losslessFailover?: boolean;
  /** The longest jump of a sequence after a loss, in ids. Default 10,000,000. */
  readonly maxJump?: number;
}

/**
 * The options, checked.
 *
 * @throws InvalidOptionError naming the option that is wrong
 */
export function lineageOptions({ losslessFailover, maxJump }: LineageOptions): {
  isLossless: boolean;
  maxJump: number | undefined;
} {
  return {
    isLossless: requireChoice('losslessFailover', losslessFailover, [false, true]),
    maxJump:
      maxJump === undefined ? undefined : requireInteger('maxJump', maxJump, 1, Number.MAX_SAFE_INTEGER),
  };
}

/** The settings of a URL that are options of the store. */
export const LINEAGE_SETTINGS = ['losslessFailover', 'maxJump'];

/**
 * Takes the options of the store out of a URL, whose other settings are for the driver.
 *
 * @throws InvalidOptionError naming the setting that is wrong
 */
export function takeLineageOptions(url: string): [rest: string, options: LineageOptions] {
  const parsed = new URL(url);
  const [lossless, jump] = LINEAGE_SETTINGS.map((name) => parsed.searchParams.get(name) ?? undefined);
  // A URL is passed on as it was written if it can be.
  if (lossless === undefined && jump === undefined) return [url, {}];
  for (const name of LINEAGE_SETTINGS) parsed.searchParams.delete(name);
  const choice = requireChoice('losslessFailover', lossless, ['false', 'true']);
  const options = {
    losslessFailover: choice === 'true',
    ...(jump !== undefined && { maxJump: Number(jump) }),
  };
  lineageOptions(options);
  return [parsed.href, options];
}

/** The sequences of a store, with what is to be said about its lineage among their warnings. */
export const withWarnings = (
  sequences: SequenceStore,
  { leases, sequences: rows }: { readonly leases: SqlLineage; readonly sequences: SqlLineage },
): SequenceStore => ({
  ...sequences,
  warnings: () => [...new Set([...leases.warnings, ...rows.warnings, ...(sequences.warnings?.() ?? [])])],
});

/** The order of the lineages of a server. */
export interface LineageOrder {
  /** @throws StoreWentBackError when this process has seen a later lineage */
  require(lineage: string): void;
  /** A condition that the server's lineage is not an earlier one, to go after others; empty if this process has seen only one. */
  readonly condition: string;
}

/** A condition that the database has a lineage; `undefined` where only the whole text can be compared. */
export type LineageComparison = (values: Values, lineage: string) => string | undefined;

/** The lineage of a database, for the statements on one table, after the set-up has found how the database tells it. */
export class SqlLineage {
  #tell: () => string | undefined;
  #warning: string | undefined;
  #order: LineageOrder | undefined;
  #compare: LineageComparison = () => undefined;

  /** @param tell gives an SQL expression of the lineage, which is text; `undefined` if it is unknown */
  constructor(tell: () => string | undefined = () => undefined) {
    this.#tell = tell;
  }

  /**
   * @param expression as the constructor's `tell` gives it
   * @param order where lineages have an order
   * @param compare where the database compares faster than by the whole text
   */
  told(expression: string, order?: LineageOrder, compare?: LineageComparison): void {
    this.#tell = () => expression;
    this.#order = order;
    if (compare) this.#compare = compare;
  }

  /** @param warning tells why the lineage is unknown, and the way out */
  untold(warning: string): void {
    this.#warning = warning;
  }

  /** The lineage as an SQL expression; `undefined` if it is unknown. */
  get expression(): string | undefined {
    return this.#tell();
  }

  get isTold(): boolean {
    return this.#tell() !== undefined;
  }

  get warnings(): readonly string[] {
    return this.#warning === undefined ? [] : [this.#warning];
  }

  /** The lineage as a column of a query; null if it is unknown. */
  get column(): string {
    return `${this.#tell() ?? 'NULL'} AS lineage`;
  }

  /**
   * The lineage in a column of an answer; `undefined` if it is unknown.
   *
   * @throws StoreWentBackError when another server has taken the place of the one that answers
   */
  read(value: unknown): string | undefined {
    if (value === null || value === undefined) return undefined;
    const lineage = plainText(value);
    this.#order?.require(lineage);
    return lineage;
  }

  /** A condition that the server was not replaced, to go after others; empty if nobody has seen another one. */
  get isLatest(): string {
    return this.#order?.condition ?? '';
  }

  /** A condition that the database has a lineage, to go after others; empty if none is known. */
  isStill(values: Values, lineage: string | undefined): string {
    const expression = this.#tell();
    if (expression === undefined || lineage === undefined) return '';
    return ` AND ${this.#compare(values, lineage) ?? `${expression} = ${values.bytes(lineage)}`}`;
  }
}
