import type { LeaseRecord } from '../../lease/port.js';
import { withOrigin } from '../../sequence/block.js';
import type { Block, SequenceInfo } from '../../sequence/port.js';

/** A JSON object that a server has answered. Whatever is not as it must be is an error: it may be another kind of server. */
export class Answer {
  readonly #fields: Readonly<Record<string, unknown>>;

  private constructor(fields: unknown) {
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) throw notOurs();
    this.#fields = fields as Record<string, unknown>;
  }

  static of(text: string): Answer {
    let fields: unknown;
    try {
      fields = JSON.parse(text);
    } catch {
      throw notOurs();
    }
    return new Answer(fields);
  }

  /** Whether there is something other than `null`. */
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

  /** A number of 64 bits, which is text in JSON. */
  bigint(name: string): bigint {
    const text = this.#get(name, (value) => typeof value === 'string' && /^-?\d{1,19}$/.test(value));
    return BigInt(text as string);
  }

  list(name: string): Answer[] {
    return (this.#get(name, Array.isArray) as unknown[]).map((fields) => new Answer(fields));
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

export function leaseIn(answer: Answer): LeaseRecord {
  return {
    id: answer.integer('id'),
    owner: answer.has('owner') ? answer.text('owner') : null,
    epoch: answer.integer('epoch'),
    fence: answer.integer('fence'),
    expiresAt: answer.integer('expiresAt'),
    label: answer.text('label'),
  };
}

export function sequenceIn(answer: Answer): SequenceInfo {
  return {
    name: answer.text('name'),
    start: answer.has('start') ? answer.bigint('start') : undefined,
    next: answer.bigint('next'),
    blockSize: answer.integer('blockSize'),
    step: answer.integer('step'),
    min: answer.bigint('min'),
    max: answer.bigint('max'),
    cycle: answer.boolean('cycle'),
    exhausted: answer.boolean('exhausted'),
  };
}

export function blockIn(answer: Answer): Block {
  const block = {
    first: answer.bigint('first'),
    step: answer.integer('step'),
    count: answer.integer('count'),
  };
  return withOrigin(block, answer.has('origin') ? answer.integer('origin') : undefined);
}
