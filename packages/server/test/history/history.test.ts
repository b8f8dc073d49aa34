import { memoryStore } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { forecastOf } from '../../src/history/forecast.ts';
import { LeaseWatch } from '../../src/history/lease-watch.ts';
import { Rings } from '../../src/history/rings.ts';
import { SequenceWatch } from '../../src/history/sequence-watch.ts';
import { HandedOut } from '../../src/mint/sequence-pool.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { TestServer } from '../support/server.ts';

const AT = 1_800_000_000_000;

describe('Rings', () => {
  it('keep an hour in slots of 5 seconds and a day in slots of 5 minutes', () => {
    const rings = new Rings('sum');
    for (let s = 0; s < 2 * 86_400; s += 5) rings.add(2, AT + s * 1000);
    const { hour, day } = rings;
    expect([hour.step, hour.values.length, new Set(hour.values)]).toEqual([5, 720, new Set([2])]);
    expect([day.step, day.values.length, new Set(day.values)]).toEqual([300, 288, new Set([120])]);
    expect(hour.end).toBe(AT / 1000 + 2 * 86_400);
    expect(rings.sums).toEqual({ hour: 1440, day: 34_560 });
  });

  it('spread what came about between two looks over all slots of that time', () => {
    const rings = new Rings('sum');
    rings.add(0, AT);
    rings.addOver(60, AT + 4000, AT + 26_000);
    const { values } = rings.hour;
    expect(values).toHaveLength(6);
    expect(values).not.toContain(null);
    expect(values.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBeCloseTo(60, 1);
  });

  it('have nothing where nothing was measured, and bear clocks that jump', () => {
    const rings = new Rings('highest');
    rings.add(3, AT);
    rings.add(1, AT + 1000);
    rings.add(5, AT + 10_000);
    expect(rings.hour.values).toEqual([3, null, 5]);
    rings.add(7, AT);
    expect(rings.hour.values).toEqual([3, null, 7]);
    rings.add(1, AT + 10 * 86_400_000);
    expect(rings.hour.values.at(-1)).toBe(1);
    expect(rings.hour.values.slice(0, -1).every((value) => value === null)).toBe(true);
    expect(rings.sums).toEqual({ hour: 1, day: 1 });
  });
});

describe('The requests in the history', () => {
  it('are those of clients: the page of the console and probes are no load', () => {
    const metrics = new Metrics();
    for (const path of ['/', '/metrics', '/readyz', '/v1/flakes'])
      metrics.requests.add(1, 'GET', path, '200');
    expect(metrics.totals().requests).toBe(1);
    metrics.close();
  });
});

describe('A forecast', () => {
  it('is from the higher of the rates of the hour and the day', () => {
    const steady = { hour: 3600, day: 3600 };
    expect(forecastOf(3600n, steady, 3600)).toEqual({
      seconds: 3600,
      rate: 1,
      over: 3600,
      confidence: 'medium',
    });
    expect(forecastOf(3600n, steady, 300)).toMatchObject({ confidence: 'low' });
    const rising = { hour: 36_000, day: 36_000 };
    expect(forecastOf(1000n, rising, 86_400)).toMatchObject({ rate: 10, seconds: 100, confidence: 'medium' });
  });

  it('is told only where there is something to go by', () => {
    const none = { hour: 0, day: 0 };
    expect(forecastOf(5n, none, 10_000)).toMatchObject({ seconds: null, confidence: 'none' });
    expect(forecastOf(undefined, { hour: 9, day: 9 }, 1000)).toMatchObject({
      seconds: null,
    });
    expect(forecastOf(5n, { hour: 9, day: 9 }, 3)).toMatchObject({ seconds: null });
    expect(forecastOf(0n, none, 0)).toMatchObject({ seconds: 0, confidence: 'high' });
  });
});

describe('The watch over sequences', () => {
  it('knows no more than 500, whatever the store has', async () => {
    const watch = new SequenceWatch(memoryStore(), new HandedOut());
    const info = {
      start: 1n,
      next: 1n,
      blockSize: 1,
      step: 1,
      min: 1n,
      max: 100n,
      cycle: false,
      exhausted: false,
    };
    watch.saw(Array.from({ length: 2000 }, (_, i) => ({ ...info, name: `s${i}` })));
    const known = Array.from({ length: 2000 }, (_, i) => watch.historyOf(`s${i}`)).filter(Boolean);
    expect(known).toHaveLength(500);
  });

  it('tells metrics what remains, with those that end first, and survives a store that fails', async () => {
    const store = memoryStore();
    const server = await TestServer.prepare({}, store);
    await server.post('/v1/sequences', { body: { name: 'short', max: '100', blockSize: 10 } });
    await server.post('/v1/sequences', { body: { name: 'over', max: '5', blockSize: 10 } });
    expect(await server.metric('idsmith_sequence_remaining_ids{sequence="short"}')).toBe(100);
    expect(await server.metric('idsmith_sequence_exhaustion_seconds{sequence="short"}')).toBe(Number.NaN);
    const { text } = await server.get('/metrics');
    expect(text).toContain('idsmith_sequence_exhaustion_seconds{sequence="short"} +Inf');
    expect(text).toContain('idsmith_sequence_exhaustion_seconds{sequence="over"} 0');
    expect(text).toContain('idsmith_namespace_node_ids_size{namespace="jflake"} 512');
    expect(text).toContain('idsmith_namespace_node_ids_held{namespace="jflake"} 1');
    expect(text).toMatch(/idsmith_build_info\{version="[\d.]+[^"]*",node="[\d.]+"\} 1/);
    expect(text).toMatch(
      /idsmith_http_request_duration_seconds_bucket\{method="POST",path="\/v1\/sequences",le="\+Inf"\} 2/,
    );
    const list = (await server.get('/v1/sequences?sort=runOut')).json.sequences;
    expect(list.map(({ name }: { name: string }) => name)).toEqual(['over', 'short']);
    expect(list[0].forecast).toMatchObject({ seconds: 0, confidence: 'high' });
    await server.stop();
  });
});

describe('The watch over leases', () => {
  it('tells who held a node id, and when', () => {
    const watch = new LeaseWatch(memoryStore());
    const held = { id: 3, owner: 'x', epoch: 1, fence: AT + 30_000, expiresAt: AT + 30_000, label: 'web-1' };
    watch.saw('shop', [held], AT);
    watch.saw('shop', [{ ...held, fence: AT + 40_000, expiresAt: AT + 40_000 }], AT + 10_000);
    watch.saw('shop', [{ ...held, owner: null, expiresAt: 0 }], AT + 20_000);
    watch.saw('shop', [{ ...held, epoch: 2, label: 'web-2', expiresAt: AT + 60_000 }], AT + 30_000);
    expect(watch.of('shop', 3)).toMatchObject([
      { term: 2, label: 'web-2', from: AT + 30_000, isFromExact: true, isHeld: true },
      { term: 1, label: 'web-1', from: AT, isFromExact: false, to: AT + 10_000, isHeld: false },
    ]);
    expect(watch.of('shop', 4)).toEqual([]);
  });

  it('tells who held a node id at a time, and whether that is certain', () => {
    const watch = new LeaseWatch(memoryStore());
    const held = { id: 3, owner: 'x', fence: AT + 30_000, expiresAt: AT + 30_000 };
    watch.saw('shop', [{ ...held, epoch: 4, label: 'web-4' }], AT);
    watch.saw(
      'shop',
      [{ ...held, epoch: 5, label: 'web-5', fence: AT + 70_000, expiresAt: AT + 70_000 }],
      AT + 40_000,
    );
    watch.saw(
      'shop',
      [{ ...held, epoch: 7, label: 'web-7', fence: AT + 120_000, expiresAt: AT + 120_000 }],
      AT + 90_000,
    );
    const at = (ms: number) => {
      const { term, isCertain } = watch.holderAt('shop', 3, AT + ms) ?? {};
      return [term?.label, isCertain];
    };
    expect(at(-5000)).toEqual(['web-4', false]);
    expect(at(10_000)).toEqual(['web-4', true]);
    expect(at(31_000)).toEqual(['web-5', true]);
    // Nobody has seen term 6.
    expect(at(75_000)).toEqual(['web-7', false]);
    expect(at(95_000)).toEqual(['web-7', true]);
    // Held when it was last seen, and renewed since.
    expect(at(500_000)).toEqual(['web-7', true]);
    expect(watch.holderAt('shop', 4, AT)).toBeUndefined();
  });

  it('names nobody for a time at which the node id was seen to be free, and is not certain of the time before', () => {
    const watch = new LeaseWatch(memoryStore());
    const held = { id: 3, owner: 'x', epoch: 1, fence: AT + 90_000, expiresAt: AT + 90_000, label: 'web-1' };
    watch.saw('shop', [], AT);
    watch.saw('shop', [held], AT + 20_000);
    expect(watch.holderAt('shop', 3, AT - 2 * 86_400_000)).toBeUndefined();
    expect(watch.holderAt('shop', 3, AT + 5000)?.isCertain).toBe(true);
    // The first look: web-1 may have held it for years.
    watch.saw('billing', [held], AT);
    expect(watch.holderAt('billing', 3, AT - 2 * 86_400_000)?.isCertain).toBe(false);
  });

  it('keeps five thousand terms, and those that are held longest', () => {
    const watch = new LeaseWatch(memoryStore());
    const held = { id: 0, owner: 'x', fence: AT, expiresAt: AT + 1e9, label: 'web' };
    watch.saw('kept', [{ ...held, epoch: 1 }], AT);
    for (let epoch = 1; epoch <= 6000; epoch++) watch.saw('busy', [{ ...held, epoch }], AT + epoch);
    expect(watch.of('busy').length + watch.of('kept').length).toBe(5000);
    expect(watch.of('busy')[0]).toMatchObject({ term: 6000, isHeld: true });
    expect(watch.of('kept')).toHaveLength(1);
  });
});
