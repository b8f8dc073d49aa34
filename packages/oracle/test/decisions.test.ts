import { type OracleConnection, oracleSequence } from '@idsmith/oracle';
import { type NativeSequenceOptions, NoSuchSequenceError, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';

interface Asked {
  readonly sql: string;
  readonly binds: readonly unknown[];
}

/** `OWNER.NAME` of sequences and synonyms; a synonym of a sequence in another database names its link. */
interface Dictionary {
  readonly sequences: readonly string[];
  readonly synonyms?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
}

/**
 * A connection that answers with rows that the test has decided. It is no Oracle: these tests show which statements are
 * sent, and what is made of the rows that come back.
 *
 * @param increments what the dictionary says at the beginning of a draw, and after it
 */
function recorded(dictionary: Dictionary, ...increments: [string, string][]) {
  const asked: Asked[] = [];
  let value = 1n;
  const execute: OracleConnection['execute'] = async (sql, binds) => {
    asked.push({ sql, binds });
    const [owner, name] = binds;
    if (sql.includes('SYS_CONTEXT')) return { rows: [['APP']] };
    if (sql.includes('all_synonyms')) return { rows: looked(dictionary, `${owner}.${name}`) };
    if (!dictionary.sequences.includes(`${owner}.${name}`)) return { rows: [] };
    const [[before, after]] = increments as [[string, string]];
    const limits = ['1', '9'.repeat(28)];
    if (!sql.includes('NEXTVAL')) {
      if (increments.length > 1) increments.shift();
      return { rows: [[after, ...limits]] };
    }
    value += 100n;
    return { rows: [[String(value), before, ...limits]] };
  };
  return { asked, connection: { execute } };
}

function looked({ sequences, synonyms = {}, links = {} }: Dictionary, key: string): unknown[][] {
  if (sequences.includes(key)) return [['SEQUENCE', ...key.split('.'), null]];
  const target = synonyms[key];
  return target === undefined ? [] : [['SYNONYM', ...target.split('.'), links[key] ?? null]];
}

describe('the statements for Oracle, and what is made of their rows', () => {
  const own = { sequences: ['APP.ORDERS_SEQ'] };

  it.each([
    ['100', '100', 100],
    ['100', '10', 10],
    ['10', '100', 10],
  ])(
    'an increment of %s before the value and %s after it makes a block of %i',
    async (before, after, count) => {
      const { connection } = recorded(own, [before, after]);
      expect(await oracleSequence(connection, 'orders').allocate(1)).toEqual({ first: 101n, step: 1, count });
      const pooled = recorded(own, [before, after]).connection;
      const options: NativeSequenceOptions = { optimizer: 'pooled', initialValue: 1 };
      expect(await oracleSequence(pooled, 'orders', options).allocate(1)).toEqual({
        first: 102n - BigInt(count),
        step: 1,
        count,
      });
    },
  );

  it('of two negative increments the one nearer to 0 counts', async () => {
    const { connection } = recorded(own, ['-100', '-10']);
    expect((await oracleSequence(connection, 'orders').allocate(1)).count).toBe(10);
  });

  it('the increment is read once more after every value', async () => {
    const { connection, asked } = recorded(own, ['50', '50']);
    const source = oracleSequence(connection, 'orders');
    await source.allocate(1);
    await source.allocate(1);
    const draws = asked.filter(({ sql }) => sql.includes('increment_by'));
    expect(draws.map(({ sql }) => sql.includes('NEXTVAL'))).toEqual([true, false, true, false]);
    expect(draws.every(({ binds }) => binds.join('.') === 'APP.ORDERS_SEQ')).toBe(true);
  });

  it('a direction that is altered meanwhile is an error, and the value is given up', async () => {
    const { connection } = recorded(own, ['100', '-100'], ['100', '100']);
    const source = oracleSequence(connection, 'orders');
    await expect(source.allocate(1)).rejects.toThrow(StoreError);
    expect((await source.allocate(1)).first).toBe(201n);
  });

  it.each([
    ['in the current schema', 'orders_seq', own, 'APP.ORDERS_SEQ'],
    ['in the schema that is named', 'shop.orders_seq', { sequences: ['SHOP.ORDERS_SEQ'] }, 'SHOP.ORDERS_SEQ'],
    [
      'in the current schema rather than by a public synonym',
      'orders_seq',
      {
        sequences: ['APP.ORDERS_SEQ', 'SHOP.ORDERS_SEQ'],
        synonyms: { 'PUBLIC.ORDERS_SEQ': 'SHOP.ORDERS_SEQ' },
      },
      'APP.ORDERS_SEQ',
    ],
    [
      'by a public synonym',
      'orders_seq',
      { sequences: ['SHOP.ORDERS_SEQ'], synonyms: { 'PUBLIC.ORDERS_SEQ': 'SHOP.ORDERS_SEQ' } },
      'SHOP.ORDERS_SEQ',
    ],
    [
      'by a private synonym rather than by a public one',
      'orders_seq',
      {
        sequences: ['SHOP.ORDERS_SEQ', 'OLD.ORDERS_SEQ'],
        synonyms: { 'APP.ORDERS_SEQ': 'SHOP.ORDERS_SEQ', 'PUBLIC.ORDERS_SEQ': 'OLD.ORDERS_SEQ' },
      },
      'SHOP.ORDERS_SEQ',
    ],
    [
      'by a synonym in the schema that is named',
      'shop.orders_seq',
      { sequences: ['CORE.NUMBERS'], synonyms: { 'SHOP.ORDERS_SEQ': 'CORE.NUMBERS' } },
      'CORE.NUMBERS',
    ],
    [
      'by a synonym of a synonym, under a name that needs quotes',
      'orders_seq',
      { sequences: ['Core.No 1'], synonyms: { 'PUBLIC.ORDERS_SEQ': 'SHOP.S', 'SHOP.S': 'Core.No 1' } },
      'Core.No 1',
    ],
  ] as [string, string, Dictionary, string][])(
    'a sequence is found %s',
    async (_, sequenceName, dictionary, expected) => {
      const { connection, asked } = recorded(dictionary, ['50', '50']);
      await oracleSequence(connection, 'x', { sequenceName }).allocate(1);
      const [owner, name] = expected.split('.');
      const draw = asked.find(({ sql }) => sql.includes('NEXTVAL'));
      expect(draw?.sql).toContain(`"${owner}"."${name}".NEXTVAL`);
      expect(draw?.binds).toEqual([owner, name]);
    },
  );

  it.each([
    ['nothing of the name', { sequences: [] }],
    ['a synonym of nothing', { sequences: [], synonyms: { 'PUBLIC.ORDERS_SEQ': 'SHOP.ORDERS_SEQ' } }],
  ] as [string, Dictionary][])('%s is a NoSuchSequenceError', async (_, dictionary) => {
    const { connection } = recorded(dictionary, ['50', '50']);
    await expect(oracleSequence(connection, 'orders').allocate(1)).rejects.toThrow(NoSuchSequenceError);
  });

  it('a public synonym does not count for a schema that is named', async () => {
    const { connection } = recorded({ sequences: ['CORE.X'], synonyms: { 'PUBLIC.ORDERS_SEQ': 'CORE.X' } }, [
      '50',
      '50',
    ]);
    const source = oracleSequence(connection, 'x', { sequenceName: 'shop.orders_seq' });
    await expect(source.allocate(1)).rejects.toThrow(NoSuchSequenceError);
  });

  it('synonyms in a circle are a StoreError', async () => {
    const synonyms = { 'APP.ORDERS_SEQ': 'APP.OTHER', 'APP.OTHER': 'APP.ORDERS_SEQ' };
    const { connection } = recorded({ sequences: [], synonyms }, ['50', '50']);
    await expect(oracleSequence(connection, 'orders').allocate(1)).rejects.toThrow(StoreError);
  });

  it('a sequence behind a database link is refused, with the ways out', async () => {
    const synonyms = { 'APP.ORDERS_SEQ': 'SHOP.ORDERS_SEQ' };
    const links = { 'APP.ORDERS_SEQ': 'HEADQUARTERS' };
    const { connection } = recorded({ sequences: [], synonyms, links }, ['50', '50']);
    await expect(oracleSequence(connection, 'orders').allocate(1)).rejects.toThrow(
      /HEADQUARTERS.*optimizer "none"/,
    );
  });

  it('a name is looked up once, and anew after a failure', async () => {
    const dictionary = { sequences: ['SHOP.A'], synonyms: { 'APP.ORDERS_SEQ': 'SHOP.A' } };
    const { connection, asked } = recorded(dictionary, ['50', '50']);
    const source = oracleSequence(connection, 'orders');
    const lookUps = () => asked.filter(({ sql }) => sql.includes('all_synonyms')).length;
    await source.allocate(1);
    const once = lookUps();
    await source.allocate(1);
    expect(lookUps()).toBe(once);
    Object.assign(dictionary, { sequences: ['SHOP.B'], synonyms: { 'APP.ORDERS_SEQ': 'SHOP.B' } });
    await expect(source.allocate(1)).rejects.toThrow(NoSuchSequenceError);
    await source.allocate(1);
    expect(asked.at(-1)?.binds).toEqual(['SHOP', 'B']);
  });

  it('optimizer none asks for nothing but the value, by the name as it is', async () => {
    const asked: string[] = [];
    const execute = async (sql: string) => {
      asked.push(sql);
      return { rows: [{ NEXT_VALUE: '7' }] };
    };
    const source = oracleSequence({ execute }, 'orders', { optimizer: 'none' });
    expect(await source.allocate(1)).toEqual({ first: 7n, step: 1, count: 1 });
    expect(asked).toEqual([`SELECT ''||orders_seq.NEXTVAL AS next_value FROM dual`]);
  });

  it('without an initialValue the first value that is drawn stands alone: its start is nowhere to be read', async () => {
    const { connection } = recorded(own, ['100', '100']);
    const source = oracleSequence(connection, 'orders', { optimizer: 'pooled' });
    expect([await source.allocate(1), await source.allocate(1)]).toEqual([
      { first: 101n, step: 1, count: 1 },
      { first: 102n, step: 1, count: 100 },
    ]);
  });
});
