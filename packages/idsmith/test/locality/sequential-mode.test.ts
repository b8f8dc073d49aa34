import { LocalityGenerator } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';

const node = { processId: 12618, mac: Uint8Array.of(2, 66, 0xfd, 0x53, 0x7a, 0x50) };
const prefix = (id: string) => id.slice(0, 8);
const counterOf = (id: string) => Number.parseInt(prefix(id), 16);

describe('sequential mode', () => {
  it('makes 1,000 ids that each follow the last by one and share their leading bytes', () => {
    const generator = new LocalityGenerator({ node, clock: new FakeClock(Date.UTC(2026, 0, 1)) });
    generator.useSequentialIds();
    const ids = Array.from({ length: 1000 }, () => generator.next());
    ids.reduce((last, id) => {
      expect(counterOf(id)).toBe(counterOf(last) + 1);
      return id;
    });
    expect(new Set(ids.map((id) => id.slice(0, 4))).size).toBe(1);
  });

  it('starts from the same seed on machines toggled in the same window', () => {
    const start = Date.UTC(2026, 5, 1, 12, 30);
    const toggled = (processId: number, time: number) => {
      const mac = Uint8Array.from({ length: 6 }, (_, i) => processId * i);
      const generator = new LocalityGenerator({ node: { processId, mac }, clock: new FakeClock(time) });
      generator.next();
      generator.useSequentialIds();
      return generator.next();
    };
    const [a, b, c] = [toggled(1, start), toggled(2, start + 599_999), toggled(2, start + 600_000)];
    expect(prefix(a)).toBe(prefix(b));
    expect(a).not.toBe(b);
    expect(prefix(c)).not.toBe(prefix(b));
  });

  it('keeps one seed for a whole hour when told to', () => {
    const start = Date.UTC(2026, 5, 1, 12);
    const first = (time: number) =>
      prefix(
        new LocalityGenerator({ mode: 'sequential', window: 'hour', clock: new FakeClock(time) }).next(),
      );
    expect(first(start)).toBe(first(start + 3_599_999));
    expect(first(start)).not.toBe(first(start + 3_600_000));
  });

  it('keeps counting when the window turns, unless it is told to reseed', () => {
    const run = (reseed: boolean) => {
      const clock = new FakeClock(Date.UTC(2026, 5, 1, 12));
      const generator = new LocalityGenerator({ mode: 'sequential', reseed, clock, node });
      const before = generator.next();
      clock.advance(600_000);
      const fresh = new LocalityGenerator({ mode: 'sequential', clock, node }).next();
      return { before, after: generator.next(), fresh };
    };
    const kept = run(false);
    expect(counterOf(kept.after)).toBe(counterOf(kept.before) + 1);
    const reseeded = run(true);
    expect(prefix(reseeded.after)).toBe(prefix(reseeded.fresh));
  });

  it('takes a new seed once when the window turns, and none when the clock goes back', () => {
    for (const [window, length] of [
      ['ten-minutes', 600_000],
      ['hour', 3_600_000],
    ] as const) {
      const clock = new FakeClock(Date.UTC(2026, 5, 1, 12));
      const generator = new LocalityGenerator({ mode: 'sequential', reseed: true, window, clock, node });
      generator.next();
      clock.advance(length - 1);
      const last = counterOf(generator.next());
      clock.advance(1);
      const [first, second] = [counterOf(generator.next()), counterOf(generator.next())];
      expect(first).not.toBe(last + 1);
      expect(second).toBe(first + 1);
      clock.advance(-1);
      expect(counterOf(generator.next())).toBe(second + 1);
    }
  });

  it('passes its mode and its window on to those who share it', () => {
    const clock = new FakeClock(Date.UTC(2026, 5, 1, 12));
    const generator = new LocalityGenerator({ reseed: true, clock, node });
    generator.useSequentialIds();
    const handle = generator.share();
    clock.advance(600_000);
    const attached = LocalityGenerator.attach(handle, { clock });
    expect(prefix(attached.next())).toBe(
      prefix(new LocalityGenerator({ mode: 'sequential', clock, node }).next()),
    );
  });

  it('leaves a shared counter to the others when it changes its mode', () => {
    const generator = new LocalityGenerator({ mode: 'sequential', node, counter: 10 });
    const attached = LocalityGenerator.attach(generator.share());
    attached.useVariableIds();
    attached.batch(5);
    expect(counterOf(generator.next())).toBe(11);
    const again = LocalityGenerator.attach(attached.share());
    expect(again.next().slice(0, 2)).not.toBe(attached.next().slice(0, 2));
  });

  it('changes nothing when it is asked for twice', () => {
    const clock = new FakeClock(Date.UTC(2026, 5, 1));
    const generator = new LocalityGenerator({ clock });
    generator.useSequentialIds();
    const first = generator.next();
    generator.useSequentialIds();
    expect(counterOf(generator.next())).toBe(counterOf(first) + 1);
  });
});
