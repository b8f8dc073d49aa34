import type { Schema } from './route.js';

// JSON Schemas that several routes share. A schema with a title becomes a component of the OpenAPI document.

/** The most ids or blocks of one call. */
export const MAX_COUNT = 10_000;

/** The longest name of a sequence or namespace, in characters. */
const MAX_NAME = 255;

const SAFE = Number.MAX_SAFE_INTEGER;

export const count: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_COUNT,
  default: 1,
  description: 'how many',
};

/** The prefix of `?public=`. The prefixes of a server are not part of the document. */
const publicPrefix: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 63,
  description: 'a prefix of the server: the response has public ids of this prefix instead of the ids',
};

/** The prefix of typed ids. The prefixes of a server are not part of the document. */
export const typeIdPrefix: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 63,
  description: 'a prefix of the server: the response has typed ids of this prefix instead of the UUIDs',
};

/** The parameters that ask for public ids. */
export const publicQuery: Readonly<Record<string, Schema>> = {
  public: publicPrefix,
  plain: {
    type: 'string',
    enum: ['true', 'false'],
    description: 'true with public or prefix: the response has the ids themselves, too, in the same order',
  },
};

export const name: Schema = { type: 'string', minLength: 1, maxLength: MAX_NAME };

const wholeNumber: Schema = { type: 'integer', minimum: -SAFE, maximum: SAFE };

const natural: Schema = { type: 'integer', minimum: 0, maximum: SAFE };

/** A 64-bit number in a response. */
const digits: Schema = { type: 'string', pattern: '^-?\\d{1,19}$' };

/** A 64-bit number in a request: digits, or a JSON number within the safe integers. */
const id64: Schema = { anyOf: [digits, wholeNumber] };

const blockSize: Schema = { type: 'integer', minimum: 1, maximum: 2 ** 31 - 1 };
const step: Schema = { ...wholeNumber, not: { const: 0 } };

/** The schema of an object with exactly these properties. All are required unless listed in `optional`. */
export function record(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    properties,
  };
}

export const problem: Schema = {
  title: 'Problem',
  ...record(
    {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'the problem, in a sentence' },
      code: { type: 'string', description: 'stable; programs can switch on it' },
      reason: { type: 'string', description: 'the cause of a failure of the store, as a stable word' },
    },
    ['reason'],
  ),
};

const idList: Schema = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MAX_COUNT };

export const ids: Schema = {
  title: 'Ids',
  ...record(
    {
      ids: idList,
      plain: { ...idList, description: 'the ids inside those of ?public= or ?prefix=, if plain=true' },
    },
    ['plain'],
  ),
};

export const definition: Schema = {
  title: 'SequenceDefinition',
  ...record(
    {
      name,
      start: id64,
      blockSize,
      step,
      min: id64,
      max: id64,
      cycle: { type: 'boolean' },
      lost: {
        type: 'boolean',
        description: 'the store has lost the sequence, and start is beyond all numbers that it gave out',
      },
    },
    ['start', 'blockSize', 'step', 'min', 'max', 'cycle', 'lost'],
  ),
};

export const changes: Schema = {
  title: 'SequenceChanges',
  ...record({ next: id64, blockSize, step, min: id64, max: id64, cycle: { type: 'boolean' } }, [
    'next',
    'blockSize',
    'step',
    'min',
    'max',
    'cycle',
  ]),
};

export const sequence: Schema = {
  title: 'Sequence',
  ...record({
    name,
    start: { anyOf: [digits, { type: 'null' }], description: 'null if another program defined the sequence' },
    next: digits,
    blockSize: { type: 'integer' },
    step,
    min: digits,
    max: digits,
    cycle: { type: 'boolean' },
    exhausted: {
      type: 'boolean',
      description:
        'no block can be taken any more: the last id was taken, or fewer are left than a block needs',
    },
    remaining: {
      anyOf: [digits, { type: 'null' }],
      description: 'ids in the store that blocks will reach; null for a cycle, which never ends',
    },
    stranded: { ...digits, description: 'ids at the end that only a smaller block size reaches' },
    handedOut: {
      ...natural,
      description: 'ids that this server has handed out since its start, those of runs of blocks included',
    },
    since: { ...natural, description: 'the start of this server, Unix ms' },
    forecast: {
      anyOf: [
        record({
          seconds: {
            anyOf: [{ type: 'integer' }, { type: 'null' }],
            description: 'until no block is left; 0 at the end; null if it is not used, or has no end',
          },
          rate: { type: 'number', description: 'ids a second that leave the store, for everybody' },
          over: { type: 'number', description: 'the length of the history that the rate is from, seconds' },
          confidence: { type: 'string', enum: ['none', 'low', 'medium', 'high'] },
        }),
        { type: 'null' },
      ],
      description: 'when the sequence runs out, if it is used as it was; null without a history',
    },
  }),
};

export const block: Schema = {
  title: 'Block',
  ...record(
    {
      first: digits,
      step,
      count: { ...natural, minimum: 1 },
      origin: {
        ...natural,
        description: 'the receipt of the run: a secret of its taker, needed to return the unused end',
      },
    },
    ['origin'],
  ),
};

export const lease: Schema = {
  title: 'Lease',
  ...record({
    id: {
      type: 'integer',
      minimum: -2,
      maximum: 2 ** 32 - 1,
      description: 'the node id; -1 and -2 are records of the namespace itself',
    },
    owner: {
      anyOf: [{ type: 'string', maxLength: MAX_NAME }, { type: 'null' }],
      description: "the holder's secret, or its digest (sha256: and 32 hexadecimal digits); null when free",
    },
    epoch: natural,
    fence: natural,
    expiresAt: natural,
    label: { type: 'string', maxLength: MAX_NAME },
  }),
};

export const claim: Schema = {
  title: 'Claim',
  ...record({ expected: { anyOf: [lease, { type: 'null' }] }, next: lease, birth: lease }, ['expected']),
};

export const swap: Schema = {
  title: 'Swap',
  ...record({ expected: { anyOf: [lease, { type: 'null' }] }, next: lease }, ['expected']),
};
