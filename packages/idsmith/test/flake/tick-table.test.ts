import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TickSlot } from '../../src/flake/tick-table.ts';

const table = (slots = 8) => new SharedArrayBuffer(24 * slots);

describe('a slot of the table of ticks', () => {
  it('gives a tick to one, and those before it to nobody', () => {
    const memory = table();
    const [one, two] = [TickSlot.of(memory, 'a'), TickSlot.of(memory, 'a')];
    expect([one.taken, one.claim(5), two.claim(5), one.claim(5), two.claim(4)]).toEqual([
      -1,
      true,
      false,
      false,
      false,
    ]);
    expect([one.taken, two.taken, two.claim(6), one.taken]).toEqual([5, 5, true, 6]);
  });

  it('is another for each layout and node, however full the table is', () => {
    const memory = table(5);
    for (const key of ['a', 'b', 'c', 'd', 'e']) expect(TickSlot.of(memory, key).claim(3)).toBe(true);
    for (const key of ['a', 'b', 'c', 'd', 'e']) expect(TickSlot.of(memory, key).claim(3)).toBe(false);
  });

  it('is refused when there are none left, with the way out', () => {
    const memory = table(2);
    TickSlot.of(memory, 'a');
    TickSlot.of(memory, 'b');
    expect(() => TickSlot.of(memory, 'c')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    expect(() => TickSlot.of(memory, 'c')).toThrow(/^node must be a lease/);
    expect(() => TickSlot.of(memory, 'a')).not.toThrow();
  });

  it('lets the members of a group use what one of them has claimed', () => {
    const alone = TickSlot.of(table(), 'a');
    const handle = alone.newGroup();
    const [one, two] = [TickSlot.attach(handle), TickSlot.attach(handle)];
    const other = TickSlot.attach(alone.newGroup());
    expect([one.claim(5), two.claim(5), other.claim(5), alone.claim(5)]).toEqual([true, true, false, false]);
    expect([one.taken, two.taken, other.taken, alone.taken]).toEqual([4, 4, 5, 5]);
    expect([other.claim(6), one.claim(5), one.taken]).toEqual([true, false, 6]);
  });

  it('keeps groups apart when there are more of them than numbers', () => {
    const alone = TickSlot.of(table(), 'a');
    const groups = Array.from({ length: 1500 }, () => TickSlot.attach(alone.newGroup()));
    expect(groups.map((group) => group.claim(7)).filter(Boolean)).toHaveLength(1);
    const handle = alone.newGroup();
    expect([TickSlot.attach(handle), TickSlot.attach(handle)].map((slot) => slot.claim(8))).toEqual([
      true,
      false,
    ]);
  });

  it('holds the largest tick there is', () => {
    const slot = TickSlot.attach(TickSlot.of(table(), 'a').newGroup());
    expect([slot.claim(2 ** 53 - 2), slot.taken]).toEqual([true, 2 ** 53 - 3]);
    expect([slot.claim(2 ** 53 - 1), slot.taken]).toEqual([true, 2 ** 53 - 2]);
  });

  it('gives no tick to two groups, whoever asks for what', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(20))), (claims) => {
        const alone = TickSlot.of(table(), 'a');
        const [first, second] = [alone.newGroup(), alone.newGroup()];
        const slots = [first, first, second, second].map((handle) => TickSlot.attach(handle));
        slots.push(alone, TickSlot.of(table(), 'a'));
        const holders = new Map<number, number>();
        const memoryOf = (who: number) => (who === 5 ? 100 : 0);
        for (const [who, tick] of claims) {
          const group = who < 4 ? Math.floor(who / 2) : who;
          if (!slots[who]?.claim(tick)) continue;
          const key = tick + memoryOf(who);
          expect(holders.get(key) ?? group).toBe(group);
          if (group > 1) expect(holders.has(key)).toBe(false);
          holders.set(key, group);
        }
      }),
    );
  });
});
