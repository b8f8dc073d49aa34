import { layouts } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { vectors } from '../support/vectors.ts';

interface Row {
  id: string;
  ms: number;
  seq: number;
}
interface Flakes {
  jflake: Record<'real' | 'realFrozenClock' | 'computed', (Row & { generator: number })[]>;
  snowflake: {
    computed: (Row & { datacenter: number; worker: number })[];
    knownTweet: Row & { datacenter: number; worker: number };
  };
  instagram: {
    articleExample: { msSinceEpoch: number; shard: number; seq: number; id: string };
    computed: { ms: number; shard: number; nextval: number; id: string }[];
  };
}

const { jflake, snowflake, instagram } = vectors<Flakes>('flakes-and-blocks');

function bothWays(
  layout: (typeof layouts)['jflake'],
  id: string,
  timestamp: number,
  node: number,
  sequence: number,
) {
  expect(layout.encode({ timestamp, node, sequence })).toBe(BigInt(id));
  expect(layout.decode(id)).toEqual({ timestamp, date: new Date(timestamp), node, sequence });
  expect(layout.decode(BigInt(id))).toEqual(layout.decode(id));
}

describe('JFlake', () => {
  it.each([...jflake.real, ...jflake.realFrozenClock, ...jflake.computed])(
    'makes $id',
    ({ id, ms, generator, seq }) => {
      bothWays(layouts.jflake, id, ms, generator, seq);
    },
  );
});

describe('Snowflake', () => {
  it.each([...snowflake.computed, snowflake.knownTweet])(
    'makes $id',
    ({ id, ms, datacenter, worker, seq }) => {
      bothWays(layouts.snowflake, id, ms, datacenter * 32 + worker, seq);
    },
  );
});

describe('Instagram', () => {
  it.each(instagram.computed)('makes $id', ({ id, ms, shard, nextval }) => {
    bothWays(layouts.instagram, id, ms, shard, nextval % 1024);
  });

  it("makes the article's example", () => {
    const { id, msSinceEpoch, shard, seq } = instagram.articleExample;
    bothWays(layouts.instagram, id, layouts.instagram.epoch + msSinceEpoch, shard, seq);
  });
});
