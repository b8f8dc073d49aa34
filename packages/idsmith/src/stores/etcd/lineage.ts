import { StoreError } from '../../errors.js';
import { systemRandom } from '../../random.js';
import { randomName } from '../../support/fresh-name.js';
import { pause, systemTimer } from '../../support/timer.js';
import { Doubts } from '../doubts.js';
import { type AskEtcd, type EtcdReply, fromBase64, type KeyValue, toBase64 } from './connection.js';

// etcd tells two numbers of itself: its revision, which a snapshot keeps, and its raft index, which begins again when a snapshot is
// restored. Each revision has an entry of the raft log of its own, so revision − index never rises in one life of the cluster. This cannot be
// compared in a transaction. So a key holds the lineage, with the number that belongs to it. Every change compares the key, and a process
// that may face another life compares the number, and replaces the key if the number has risen.

/** The content of the key. */
interface Life {
  /** The lineage. */
  readonly text: string;
  /** The number of times that the lineage was replaced. */
  readonly count: number;
  readonly cluster: string;
  /** The highest difference of revision and index that this life can have, as text. */
  readonly offset: string;
}

/** The life, and the value of the key that it was read from. */
interface StoredLife extends Life {
  readonly value: string;
}

/** What a member tells of itself. */
interface Status {
  readonly cluster: string;
  readonly revision: bigint;
  readonly index: bigint;
}

/** A member that is behind tells of an earlier time. Its numbers are read again so many times, with a pause, ms. */
const MAX_READINGS = 5;
const PAUSE = 20;

/** A member with little data is stopped, restored and started in less than half a second, ms. */
const RESTART = 100;

/** The most times that others may be quicker to replace the key. */
const MAX_TRIES = 20;

/** The lineage of an etcd. */
export class EtcdLineage {
  /** Asks etcd, and notices answers that are from an earlier time than those before. */
  readonly ask: AskEtcd = (...request) => this.#askWatched(...request);
  /** The request for the key, for a transaction. */
  readonly range: object;
  readonly #askPlainly: AskEtcd;
  readonly #key: string;
  readonly #doubts = new Doubts(RESTART);
  /** The life that this process has compared last. */
  #life: StoredLife | undefined;
  /** The highest revision of this life that an answer has told. */
  #revision = 0n;
  /** True if others may have replaced the key. */
  #isStale = true;
  /** True if an answer was from an earlier time than one before. */
  #isProven = false;
  /** The reason why the lineage is not told. */
  #silence: string | undefined;

  constructor(ask: AskEtcd, key: string) {
    this.#askPlainly = ask;
    this.#key = toBase64(key);
    this.range = { request_range: { key: this.#key } };
  }

  get warnings(): readonly string[] {
    return this.#silence === undefined ? [] : [this.#silence];
  }

  /** The lineage at this moment; `undefined` if etcd does not tell. */
  async present(): Promise<string | undefined> {
    if (this.#silence === undefined) await this.#doubts.settle(() => this.#look());
    return this.#life?.text;
  }

  /** The lineage in the answer to {@link range}; `undefined` if there is none yet. */
  textIn(found: readonly KeyValue[] | undefined): string | undefined {
    const [stored] = found ?? [];
    return this.#silence === undefined && stored ? decode(stored).text : undefined;
  }

  /**
   * Makes changes if the comparisons hold, and as long as etcd has this lineage. Gives the answer; `undefined` if nothing was changed, or the
   * change was made in another life.
   *
   * @param lineage `undefined` to compare none
   */
  async commit(
    operation: string,
    lineage: string | undefined,
    compare: readonly object[],
    success: readonly object[],
  ): Promise<EtcdReply | undefined> {
    if (lineage !== undefined && !(await this.#isPresent(lineage))) return undefined;
    const isSame = { key: this.#key, result: 'EQUAL', target: 'VALUE', value: this.#life?.value };
    const conditions = lineage === undefined ? compare : [...compare, isSame];
    const { reply } = await this.ask(operation, '/v3/kv/txn', { compare: conditions, success });
    if (reply.succeeded !== true) {
      // Perhaps others have replaced the key.
      this.#isStale = true;
      return undefined;
    }
    return lineage === undefined || (await this.present()) === lineage ? reply : undefined;
  }

  async #isPresent(lineage: string): Promise<boolean> {
    if ((await this.present()) === lineage) return true;
    this.#isStale = true;
    this.#doubts.raise();
    return (await this.present()) === lineage;
  }

  async #askWatched(operation: string, path: string, body?: object) {
    const life = this.#life;
    const before = this.#revision;
    const response = await this.#doubts.watch(() => this.#askPlainly(operation, path, body));
    const { header } = response.reply;
    // In another life, the numbers begin again. A request that was sent before tells nothing of it.
    if (header?.cluster_id === undefined || life === undefined || life !== this.#life) return response;
    const revision = BigInt(header.revision);
    if (revision < before || header.cluster_id !== life.cluster) {
      this.#isProven = true;
      this.#doubts.raise();
    } else if (revision > this.#revision) this.#revision = revision;
    return response;
  }

  /** Compares what etcd tells of itself with the key. Replaces the key in another life. */
  async #look(): Promise<void> {
    const known = this.#life;
    if (known && !this.#isStale && !this.#isProven) {
      const status = await this.#status();
      if (status === undefined || !isOther(known, status)) return;
    }
    for (let tries = 1, readings = 1; tries <= MAX_TRIES; tries++) {
      const found = await this.#read();
      const status = await this.#status();
      if (status === undefined) return;
      const isOlder = found !== undefined && this.#isOlder(found);
      if (found && !isOlder && !isOther(found, status)) return this.#adopt(found);
      if (found && !isOlder && readings++ < MAX_READINGS) {
        await pause(systemTimer, PAUSE, false);
        continue;
      }
      const later = await this.#status();
      if (later === undefined) return;
      const count = Math.max(known?.count ?? -1, found?.count ?? -1) + 1;
      const next = await this.#replace(found, lifeOf(status, later, count));
      if (next === 'forbidden') return this.#beSilent('its key may not be written');
      if (next) return this.#adopt(next);
    }
    throw new StoreError(
      `etcd store: the lineage was replaced by others ${MAX_TRIES} times: try again later`,
      { reason: 'CONFLICT' },
    );
  }

  /** Tells whether the key is from a time before the one that this process has seen. */
  #isOlder(found: Life): boolean {
    const known = this.#life;
    if (known === undefined) return false;
    return found.count < known.count || (this.#isProven && found.text === known.text);
  }

  #adopt(life: StoredLife): void {
    if (life.text !== this.#life?.text || this.#isProven) this.#revision = 0n;
    this.#life = life;
    this.#isStale = false;
    this.#isProven = false;
  }

  async #read(): Promise<StoredLife | undefined> {
    const { reply } = await this.#askPlainly('reading the lineage', '/v3/kv/range', { key: this.#key });
    const [stored] = reply.kvs ?? [];
    return stored && decode(stored);
  }

  /** What the member that answers tells of itself; `undefined` if it may not tell. */
  async #status(): Promise<Status | undefined> {
    try {
      const { reply } = await this.#askPlainly('reading the status', '/v3/maintenance/status', {});
      const { header, raftAppliedIndex } = reply;
      if (raftAppliedIndex === undefined) throw new StoreError('HTTP 501: the status has no raft index');
      return {
        cluster: header.cluster_id,
        revision: BigInt(header.revision),
        index: BigInt(raftAppliedIndex),
      };
    } catch (error) {
      if (!isForbidden(error)) throw error;
      this.#beSilent((error as Error).message);
      return undefined;
    }
  }

  async #replace(found: StoredLife | undefined, life: Life): Promise<StoredLife | 'forbidden' | undefined> {
    const value = toBase64(JSON.stringify(life));
    const before = found ? { target: 'VALUE', value: found.value } : { target: 'VERSION', version: '0' };
    try {
      const { reply } = await this.#askPlainly('writing the lineage', '/v3/kv/txn', {
        compare: [{ key: this.#key, result: 'EQUAL', ...before }],
        success: [{ request_put: { key: this.#key, value } }],
      });
      return reply.succeeded === true ? { ...life, value } : undefined;
    } catch (error) {
      if (isForbidden(error)) return 'forbidden';
      throw error;
    }
  }

  #beSilent(reason: string): void {
    this.#life = undefined;
    this.#silence =
      'etcd does not tell its lineage, so a snapshot that is restored is noticed only by processes that have seen more: ' +
      `${reason}. See docs/lineage.md`;
  }
}

/**
 * Tells whether a status is from another life. A member changes its revision a moment before its index, so the difference may be one too
 * high.
 */
function isOther({ cluster, offset }: Life, status: Status): boolean {
  return status.cluster !== cluster || status.revision - status.index > BigInt(offset) + 1n;
}

/**
 * The life of an etcd that has answered twice. The index was read after the first revision and before the second one, so the difference
 * is not lower than the true one at that moment.
 */
function lifeOf(first: Status, second: Status, count: number): Life {
  const offset = String(second.revision - first.index);
  return { text: randomName(systemRandom), count, cluster: second.cluster, offset };
}

function decode({ value = '' }: KeyValue): StoredLife {
  try {
    return { ...(JSON.parse(fromBase64(value)) as Life), value };
  } catch (error) {
    throw new StoreError('etcd store: the lineage cannot be read: another program may have written it', {
      cause: error,
      reason: 'UNREADABLE',
    });
  }
}

/** PermissionDenied, and a proxy that does not pass the question on. */
const isForbidden = (error: unknown) => /HTTP (403|404|501)/.test((error as Error).message);
