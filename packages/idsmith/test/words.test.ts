import { FlakeGenerator, layouts, memoryStore, Sequences } from 'idsmith';
import { connect } from 'idsmith/connect';
import { openStore } from 'idsmith/stores';
import { uuid7 } from 'idsmith/uuid7';
import { describe, expect, it } from 'vitest';

describe('what a newcomer gets wrong is answered by the way out', () => {
  it('a store that is missing', async () => {
    await expect(connect(undefined as never)).rejects.toThrow(
      "target must be the URL of a store, for example 'sqlite:./ids.db' or 'postgres://app@db/ids', or a store, not undefined. " +
        'If it comes from an environment variable, set the variable',
    );
    await expect(openStore('file:./ids.db')).rejects.toThrow(
      'for a file of SQLite, write sqlite: instead of file:',
    );
  });

  it('a node that is missing, or has the name of another library', () => {
    expect(() => new FlakeGenerator(undefined as never)).toThrow(
      'node is missing: give a node id that no other process uses',
    );
    for (const name of ['workerId', 'machineId', 'datacenterId'])
      expect(() => new FlakeGenerator({ [name]: 3 } as never)).toThrow(
        `unknown name "${name}"; did you mean "node"?`,
      );
  });

  it('a layout by its name, and an id that was a number', () => {
    expect(() => new FlakeGenerator({ node: 1, layout: 'discord' as never })).toThrow(
      'layout must be a layout such as layouts.discord, or one from defineLayout(), not "discord"',
    );
    expect(() => layouts.jflake.decode(1704842750014259200)).toThrow(
      '1704842750014259200 has lost digits: a JavaScript number is exact up to 2^53 - 1. Keep ids as bigint or text',
    );
  });

  it('an argument that has no meaning', () => {
    expect(() => (uuid7 as (prefix: string) => string)('user')).toThrow(
      'uuid7() takes no argument, not "user": typeIds(prefix) of idsmith/typeid makes ids with a prefix',
    );
    expect(new Set(['a', 'b'].map(uuid7)).size).toBe(2);
  });

  it('a sequence that was closed', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('orders');
    const orders = await sequences.get('orders');
    await orders.close();
    await expect(orders.next()).rejects.toThrow(
      'sequence "orders" is closed: ask for it again, with ids.sequence() or sequences.get()',
    );
  });
});
