import type { StoreReason } from '../../errors.js';
import type { LeaseRecord } from '../../lease/port.js';
import { withOrigin } from '../../sequence/block.js';
import type { Block, SequenceInfo } from '../../sequence/port.js';
import { storeReasons } from '../../support/store-error.js';

/** A JSON object in a server's reply. A missing or wrong field is an error: the server may be of another kind. */
export class ServerReply {
  readonly #fields: Readonly<Record<string, unknown>>;

  private constructor(fields: unknown) {
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) throw notOurs();
    this.#fields = fields as Record<string, unknown>;
  }

  static of(text: string): ServerReply {
    let fields: unknown;
    try {
      fields = JSON.parse(text);
    } catch {
      throw notOurs();
    }
    return new ServerReply(fields);
  }

  /** Tells whether the field has a value other than `null`. */
  has(name: string): boolean {
    return (this.#fields[name] ?? null) !== null;
  }

  boolean(name: string): boolean {
    return this.#get(name, (value) => typeof value === 'boolean') as boolean;
  }

  integer(name: string): number {
    return this.#get(name, Number.isSafeInteger) as number;
  }

  text(name: string): string {
    return this.#get(name, (value) => typeof value === 'string') as string;
  }

  /** The cause of a failure of the server's own store, if this library knows the word. */
  reason(): StoreReason | undefined {
    const { reason } = this.#fields;
    return Object.hasOwn(storeReasons, String(reason)) ? (reason as StoreReason) : undefined;
  }

  /** A number of 64 bits, which is text in JSON. */
  bigint(name: string): bigint {
    const text = this.#get(name, (value) => typeof value === 'string' && /^-?\d{1,19}$/.test(value));
    return BigInt(text as string);
  }

  object(name: string): ServerReply {
    return new ServerReply(this.#fields[name]);
  }

  list(name: string): ServerReply[] {
    return (this.#get(name, Array.isArray) as unknown[]).map((fields) => new ServerReply(fields));
  }

  #get(name: string, isRight: (value: unknown) => boolean): unknown {
    const value = this.#fields[name];
    if (isRight(value)) return value;
    throw notOurs();
  }
}

function notOurs(): Error {
  return new Error('the answer is not one of an idsmith server');
}

export function leaseIn(reply: ServerReply): LeaseRecord {
  return {
    id: reply.integer('id'),
    owner: reply.has('owner') ? reply.text('owner') : null,
    epoch: reply.integer('epoch'),
    fence: reply.integer('fence'),
    expiresAt: reply.integer('expiresAt'),
    label: reply.text('label'),
  };
}

export function sequenceIn(reply: ServerReply): SequenceInfo {
  return {
    name: reply.text('name'),
    start: reply.has('start') ? reply.bigint('start') : undefined,
    next: reply.bigint('next'),
    blockSize: reply.integer('blockSize'),
    step: reply.integer('step'),
    min: reply.bigint('min'),
    max: reply.bigint('max'),
    cycle: reply.boolean('cycle'),
    exhausted: reply.boolean('exhausted'),
  };
}

export function blockIn(reply: ServerReply): Block {
  const block = {
    first: reply.bigint('first'),
    step: reply.integer('step'),
    count: reply.integer('count'),
  };
  return withOrigin(block, reply.has('origin') ? reply.integer('origin') : undefined);
}
