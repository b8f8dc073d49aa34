import { ObjectId } from 'bson';
import fc from 'fast-check';
import { FlakeGenerator, LocalityGenerator, layouts, Uuid7Generator } from 'idsmith';
import { inspect, requireReadings } from 'idsmith/inspect';
import { publicIds } from 'idsmith/public';
import { FakeClock } from 'idsmith/testing';
import { nanoid } from 'nanoid';
import { ulid } from 'ulid';
import { v1, v3, v4, v5, v6, v7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import invalidTypeIds from '../vectors/typeid-invalid.json' with { type: 'json' };
import validTypeIds from '../vectors/typeid-valid.json' with { type: 'json' };

const families = (text: string, now?: number) =>
  inspect(text, now === undefined ? {} : { now }).map(({ family }) => family);
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const at = (time: number) => ({ iso: new Date(time).toISOString(), timestamp: time });

describe('inspect', () => {
  it('reads a locality UUID', () => {
    const [reading] = inspect('20be0ffc-314a-bd53-7a50-013a65ca76d2');
    expect(reading).toMatchObject({
      family: 'locality',
      reason: 'a UUID of version b',
      fields: { processId: 12618, macFragment: '__:__:_d:53:7a:50', iso: '2012-10-15T18:58:18.450Z' },
    });
    const standard = new LocalityGenerator({ format: 'rfc9562' }).next();
    expect(families(standard)).toEqual(['locality', 'uuid']);
  });

  it('reads a flake in every layout that gives a plausible time', () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 2));
    const id = new FlakeGenerator({ node: 3, clock }).nextString();
    const readings = inspect(id, { now: clock.now() });
    expect(readings).toContainEqual({
      family: 'flake',
      reason: 'a number with a plausible time in the layout jflake',
      fields: expect.objectContaining({ layout: 'jflake', node: 3, sequence: 0, timestamp: clock.now() }),
    });
    expect(readings.at(-1)?.family).toBe('sequence');
  });

  it('reads a sharded key', () => {
    const [reading] = inspect('1jyVFw3401');
    expect(reading).toMatchObject({ family: 'key', fields: { ms: 1_595_487_784, variant: 190, type: 1 } });
  });

  it('takes no flake from more than a day after the present time', () => {
    const made = Date.UTC(2026, 0, 2);
    const id = layouts.jflake.encode({ timestamp: made, node: 0, sequence: 0 }).toString();
    expect(families(id, made)).toContain('flake');
    const before = inspect(id, { now: made - 3 * 86_400_000 });
    expect(before.map(({ fields }) => fields.layout)).not.toContain('jflake');
  });

  it('refuses what is no text, and an option that is unknown or wrong', () => {
    const invalid = expect.objectContaining({ code: 'INVALID_ID' });
    for (const value of [5, null, undefined, {}, 5n])
      expect(() => inspect(value as unknown as string)).toThrow(invalid);
    expect(() => inspect('1jyVFw3401', { nwo: 1 } as never)).toThrow(/did you mean "now"/);
    expect(() => inspect('1jyVFw3401', { now: Number.NaN })).toThrow(/now must be/);
  });
});

describe('a UUID', () => {
  const options = { msecs: NOW, nsecs: 1234, node: Uint8Array.of(1, 2, 3, 4, 5, 6), clockseq: 0x1234 };
  const clockAndNode = { clockSequence: 0x1234, node: '01:02:03:04:05:06' };

  it.each([
    ['1', v1(options), { ...clockAndNode, ...at(NOW) }],
    ['6', v6(options), { ...clockAndNode, ...at(NOW) }],
    ['7', v7({ msecs: NOW }), at(NOW)],
    ['7', new Uuid7Generator({ clock: new FakeClock(NOW) }).next(), at(NOW)],
    [
      '1',
      '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
      { iso: '1998-02-04T22:13:53.151Z', node: '00:c0:4f:d4:30:c8' },
    ],
    // The example of RFC 9562 for version 7.
    ['7', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F', { iso: '2022-02-22T19:22:22.000Z' }],
    ['6', '1EC9414C-232A-6B00-B3C8-9F6BDECED846', { iso: '2022-02-22T19:22:22.000Z' }],
  ])('of version %s shows its time: %s', (version, text, fields) => {
    const [reading, ...others] = inspect(text);
    expect(reading).toMatchObject({ family: 'uuid', fields: { version, ...fields } });
    expect(reading?.reason).toContain(`version ${version}`);
    expect(others).toEqual([]);
  });

  it('of version 2 shows its user, and its time to within seven minutes', () => {
    const first = v1({ ...options, msecs: NOW });
    const text = `000003e8${first.slice(8, 14)}2${first.slice(15, 21)}00${first.slice(23)}`;
    const [reading] = inspect(text);
    expect(reading?.fields).toMatchObject({ version: '2', localId: 1000, domain: 0 });
    expect(Math.abs(Number(reading?.fields.timestamp) - NOW)).toBeLessThan(430_000);
  });

  it.each([
    ['3', v3('x', v3.DNS), /MD5/],
    ['4', v4(), /random/],
    ['5', v5('x', v5.DNS), /SHA-1/],
    ['8', 'ffffffff-ffff-8fff-bfff-ffffffffffff', /its maker/],
    ['0', '00000000-0000-0000-0000-000000000000', /nil/],
    ['f', 'ffffffff-ffff-ffff-ffff-ffffffffffff', /max/],
    ['9', '6ba7b810-9dad-91d1-80b4-00c04fd430c8', /does not have/],
    ['1', '6ba7b810-9dad-11d1-c0b4-00c04fd430c8', /another variant/],
  ])('of version %s has no time: %s', (version, text, reason) => {
    expect(inspect(text)).toEqual([
      { family: 'uuid', reason: expect.stringMatching(reason), fields: { version } },
    ]);
  });

  it('is also read as a URN, in braces, in upper case and without hyphens', () => {
    const id = v7({ msecs: NOW });
    for (const text of [`urn:uuid:${id}`, `{${id}}`, id.toUpperCase(), id.replaceAll('-', ''), ` ${id}\n`])
      expect(inspect(text)).toEqual(inspect(id));
    // Most hex digits are something else.
    expect(inspect('d41d8cd98f00b204e9800998ecf8427e')).toEqual([]);
  });
});

describe('ids of other libraries', () => {
  it('are ULIDs, of either case', () => {
    // Without the bits of a UUID of version 7, which a ULID may have by chance.
    const id = `${ulid(NOW).slice(0, 10)}0000000000000000`;
    for (const text of [id, id.toLowerCase()])
      expect(inspect(text)).toMatchObject([{ family: 'ulid', fields: at(NOW) }]);
    expect(families(`8${id.slice(1)}`)).toEqual([]);
  });

  it.each(validTypeIds)('are TypeIDs, such as "$name"', ({ typeid, prefix, uuid }) => {
    const [reading] = inspect(typeid).filter(({ family }) => family === 'typeid');
    // Without a prefix, a UUID of another version could be any ULID.
    if (prefix === '') expect(reading).toBeUndefined();
    else expect(reading?.fields).toMatchObject({ prefix, uuid });
  });

  it.each(invalidTypeIds)('are no TypeIDs where the specification refuses them: "$name"', ({ typeid }) => {
    // White space around an id is left out.
    if (typeid === typeid.trim()) expect(families(typeid)).not.toContain('typeid');
  });

  it('are TypeIDs without a prefix, if they hold a UUID of version 7', () => {
    const [best, other] = inspect('01h455vb4pex5vsknk084sn02q');
    expect(best).toMatchObject({
      family: 'typeid',
      reason: expect.stringMatching(/^26 characters of base 32: a TypeID, version 7/),
      fields: { prefix: '', uuid: '01890a5d-ac96-774b-bcce-b302099a8057' },
    });
    expect(other?.family).toBe('ulid');
    // A ULID in upper case is no TypeID.
    expect(families('01H455VB4PEX5VSKNK084SN02Q')).toEqual(['ulid']);
  });

  it('are TypeIDs', () => {
    // The examples of the specification.
    expect(inspect('prefix_01h455vb4pex5vsknk084sn02q')).toMatchObject([
      {
        family: 'typeid',
        fields: { prefix: 'prefix', uuid: '01890a5d-ac96-774b-bcce-b302099a8057', version: '7' },
      },
    ]);
    expect(inspect('pre_fix_00000000000000000000000000')[0]?.fields).toEqual({
      prefix: 'pre_fix',
      uuid: '00000000-0000-0000-0000-000000000000',
      version: '0',
    });
    for (const text of ['prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz', '_prefix_01h455vb4pex5vsknk084sn02q'])
      expect(families(text)).toEqual([]);
  });

  it('are KSUIDs', () => {
    // The example of the KSUID tool.
    expect(inspect('0ujtsYcgvSTl8PAuAdqWYSMnLOv')).toMatchObject([
      {
        family: 'ksuid',
        fields: { payload: 'b5a1cd34b5f99d1154fb6853345c9735', iso: '2017-10-10T04:00:47.000Z' },
      },
    ]);
    expect(families('aWgEPTl1tmebfsQzFP4bxwgy80V', Date.UTC(2160, 0))).toEqual(['ksuid']);
    expect(families('aWgEPTl1tmebfsQzFP4bxwgy80W')).toEqual([]);
  });

  it('are ObjectIds', () => {
    const id = ObjectId.createFromTime(Math.floor(NOW / 1000)).toHexString();
    const seconds = Math.floor(NOW / 1000) * 1000;
    expect(inspect(id)).toMatchObject([{ family: 'objectid', fields: at(seconds) }]);
  });

  it('are xids', () => {
    // The example of the xid library.
    expect(inspect('9m4e2mr0ui3e8a215n4g')).toMatchObject([
      {
        family: 'xid',
        fields: { machine: '60f486', processId: 0xe428, counter: 4271561, iso: '2011-03-22T17:50:19.000Z' },
      },
    ]);
    expect(families('9m4e2mr0ui3e8a215n4h')).toEqual([]);
  });

  it('are nanoids, which have no structure', () => {
    expect(inspect(`_${nanoid(20)}`)).toEqual([
      { family: 'nanoid', reason: expect.stringContaining('no structure'), fields: { length: 21 } },
    ]);
    expect(inspect('V1StGXR8_Z5jdHi6B-myT').at(-1)?.family).toBe('nanoid');
  });

  it('are numbers of sequences', () => {
    for (const text of ['0', '10001', '-5', '9223372036854775807'])
      expect(inspect(text, { now: Date.UTC(2000, 0) })).toEqual([
        { family: 'sequence', reason: expect.any(String), fields: { value: text } },
      ]);
    for (const text of ['007', '-0', '9223372036854775808', '1.5', '1e3'])
      expect(families(text, Date.UTC(2000, 0))).toEqual([]);
  });
});

describe('a public id', () => {
  const secret = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
  const keys = { 7: secret };
  const orders = publicIds({ prefix: 'ord', keys });
  const users = publicIds({ prefix: 'usr', keys, of: 'uuid' });
  const short = publicIds({ prefix: 'inv', keys, short: true });
  const texts = [orders.encode(10001n), users.encode(v4()), short.encode(10001n)] as const;

  it('shows prefix, form and key id without the key', () => {
    const shown = texts.map((text) => inspect(text)[0]);
    expect(shown.map((reading) => reading?.fields)).toEqual([
      { prefix: 'ord', form: 'int64', keyId: 7 },
      { prefix: 'usr', form: 'uuid', keyId: 7 },
      { prefix: 'inv', form: 'short', keyId: 7 },
    ]);
    expect(shown.map((reading) => reading?.family)).toEqual(['public', 'public', 'public']);
  });

  it('shows the id with the key', () => {
    for (const [i, ids] of [orders, users, short].entries()) {
      const text = texts[i] as string;
      const id = String(ids.decode(text));
      expect(inspect(text, { publicIds: [orders, users, short] })[0]).toMatchObject({ fields: { id } });
      expect(inspect(text, { publicIds: ids })[0]).toMatchObject({ family: 'public', fields: { id } });
    }
  });

  it('that none of the keys has made ranks last, with the reason', () => {
    const forged = `${texts[0].slice(0, -1)}${texts[0].endsWith('0') ? '1' : '0'}`;
    const [reading] = inspect(forged, { publicIds: orders });
    expect(reading?.reason).toContain('none of the keys has made it');
    expect(reading?.fields).not.toHaveProperty('id');
  });
});

describe('the order of readings', () => {
  it('puts times before 1990 and from 2100 on last, and says so', () => {
    const old = inspect(v7({ msecs: 0 }));
    expect(old[0]?.reason).toContain('not between 1990 and 2100');
    const late = inspect('ffffffffffffffffffffffff');
    expect(late).toMatchObject([{ family: 'objectid', reason: expect.stringContaining('1990 and 2100') }]);
    // As an ObjectId its time is 1970. As a UUID without hyphens the text is too short.
    const ahead = inspect(v7({ msecs: NOW }), { now: NOW - 10 * 86_400_000 });
    expect(ahead[0]?.reason).toContain('in the future');
  });

  it('prefers a plausible time to a more exact shape without one', () => {
    // 20 digits with a zero at the end are an xid, too, of the years after 1970.
    const id = layouts.discord.encode({ timestamp: Date.UTC(2092, 0), node: 3, sequence: 0 });
    const text = String(id - (id % 10n));
    expect(text).toHaveLength(20);
    const readings = inspect(text, { now: Date.UTC(2093, 0) });
    const kinds = readings.map(({ family }) => family);
    expect(kinds).toContain('xid');
    expect(kinds[0]).toBe('flake');
    expect(readings.find(({ family }) => family === 'xid')?.reason).toContain('1990 and 2100');
    expect(kinds.at(-1)).toBe('xid');
  });
});

describe('any text', () => {
  const check = (text: string) => {
    const wrong = inspect(text).filter(
      ({ family, reason, fields }) =>
        typeof family !== 'string' ||
        typeof reason !== 'string' ||
        reason === '' ||
        Object.values(fields).some((value) => typeof value !== 'string' && typeof value !== 'number'),
    );
    expect(wrong).toEqual([]);
  };

  it('has readings or none, and never throws', () => {
    const alphabet = (characters: string) =>
      fc.string({ unit: fc.constantFrom(...characters), maxLength: 40 });
    const hostile = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary', maxLength: 60 }),
      alphabet('0123456789abcdef-{}'),
      alphabet('0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghijklmnopqrstuvwxyz_-'),
      alphabet('0123456789-'),
      fc.uuid(),
      fc.integer({ min: 20, max: 36 }).chain((length) => fc.constant('z'.repeat(length))),
    );
    fc.assert(fc.property(hostile, check), { numRuns: 3000 });
    for (const text of ['', ' ', '_', 'a_', '-', '\0', '{}', '\ud800', 'no id', '__proto__', 'constructor'])
      check(text);
  });

  it('is not looked at beyond 1,000 characters', () => {
    const id = '20be0ffc-314a-bd53-7a50-013a65ca76d2';
    expect(families(id.padEnd(1000))).toEqual(['locality']);
    expect(families(id.padEnd(1001))).toEqual([]);
    for (const character of ['9', 'a', '_', ' ', '-', '{', 'z_'])
      expect(families(character.repeat(5_000_000))).toEqual([]);
  });

  it.each(['', 'no id', '{}', 'nonsense'])('that fits no family has no readings: %j', (text) => {
    expect(inspect(text)).toEqual([]);
    expect(() => requireReadings(text)).toThrow(expect.objectContaining({ code: 'INVALID_ID' }));
  });
});
