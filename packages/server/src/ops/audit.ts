import type { Log } from './log.js';

/** The changes that are kept. */
const MAX_KEPT = 1000;

/** Values in an audit: a sequence as JSON. */
type Values = Readonly<Record<string, unknown>>;

/** An administrative change. */
export interface Change {
  /** Unix ms. */
  readonly at: number;
  readonly action: 'define' | 'alter' | 'remove' | 'remove namespace' | 'write namespace' | 'free node ids';
  /** The name of the sequence, series, namespace or token. */
  readonly subject: string;
  /** The name of the token; `null` where no tokens are in use. */
  readonly token: string | null;
  /** The id of the token, which the token file has. */
  readonly tokenId: string | null;
  readonly requestId: string;
  /** The fields that changed, before and after; `null` for what was not there. */
  readonly before: Values | null;
  readonly after: Values | null;
}

/** The caller and the request of a change. */
interface By {
  readonly id: string;
  readonly caller: { readonly id: string; readonly name: string } | null;
}

/** Administrative changes: each in the log, and the latest ones in memory. Other servers have their own. */
export class Audit {
  readonly #log: Log;
  readonly #changes: Change[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** The latest changes of this server, newest first. */
  get changes(): readonly Change[] {
    return this.#changes.toReversed();
  }

  add(
    { id: requestId, caller }: By,
    action: Change['action'],
    subject: string,
    before: Values | null,
    after: Values | null,
  ): void {
    const [was, is] = before && after ? difference(before, after) : [before, after];
    const by = { token: caller?.name || null, tokenId: caller?.id || null, requestId };
    const change: Change = { at: Date.now(), action, subject, ...by, before: was, after: is };
    this.#changes.push(change);
    if (this.#changes.length > MAX_KEPT) this.#changes.shift();
    const { at: _, ...fields } = change;
    this.#log.info('change', fields);
  }
}

/** The fields that differ. */
function difference(before: Values, after: Values): [Values, Values] {
  const names = Object.keys(after).filter((name) => before[name] !== after[name]);
  const pick = (values: Values) => Object.fromEntries(names.map((name) => [name, values[name]]));
  return [pick(before), pick(after)];
}
