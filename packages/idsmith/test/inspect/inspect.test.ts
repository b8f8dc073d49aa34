import { FlakeGenerator, layouts } from 'idsmith';
import { inspect } from 'idsmith/inspect';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';

const families = (text: string, now?: number) =>
  inspect(text, now === undefined ? {} : { now }).map(({ family }) => family);

describe('inspect', () => {
  it('reads a locality UUID', () => {
    const [reading] = inspect('20be0ffc-314a-bd53-7a50-013a65ca76d2');
    expect(reading).toMatchObject({
      family: 'locality',
      fields: { processId: 12618, macFragment: '__:__:_d:53:7a:50', iso: '2012-10-15T18:58:18.450Z' },
    });
  });

  it('reads a UUID of another version', () => {
    expect(inspect('6ba7b810-9dad-11d1-80b4-00c04fd430c8')).toEqual([
      { family: 'uuid', fields: { version: '1' } },
    ]);
  });

  it('reads a flake in every layout that gives a plausible time', () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 2));
    const id = new FlakeGenerator({ node: 3, clock }).nextString();
    const readings = inspect(id, { now: clock.now() });
    expect(readings).toContainEqual({
      family: 'flake',
      fields: expect.objectContaining({ layout: 'jflake', node: 3, sequence: 0, timestamp: clock.now() }),
    });
  });

  it('reads a sharded key', () => {
    const [reading] = inspect('1jyVFw3401');
    expect(reading).toMatchObject({ family: 'key', fields: { ms: 1_595_487_784, variant: 190, type: 1 } });
  });

  it('takes no reading from more than a day after the present time', () => {
    const made = Date.UTC(2026, 0, 2);
    const id = layouts.jflake.encode({ timestamp: made, node: 0, sequence: 0 }).toString();
    expect(families(id, made)).toContain('flake');
    const before = inspect(id, { now: made - 3 * 86_400_000 });
    expect(before.map(({ fields }) => fields.layout)).not.toContain('jflake');
  });

  it.each(['', 'no id', '{}', 5, null, undefined])('refuses %j, which fits no family', (text) => {
    expect(() => inspect(text as string)).toThrow(expect.objectContaining({ code: 'INVALID_ID' }));
  });

  it('refuses an option that is not known', () => {
    expect(() => inspect('1jyVFw3401', { nwo: 1 } as never)).toThrow(/did you mean "now"/);
  });
});
