import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { hexToBytes } from '../../src/encoding/hex.ts';
import { vectors } from '../support/vectors.ts';

interface Ruby {
  mac: string;
  pid: number;
  variable: { counter: number; s: string }[];
  forced: { before: number; after: number; first8: string }[];
  seqInit: number;
  seq: { s: string }[];
  seqWrapNeg: string[];
  decode: {
    in: string;
    s?: string;
    version?: string;
    pid?: number | string;
    mac?: string;
    ts?: number;
    err?: string;
  }[];
}

const ruby = vectors<Ruby>('locality-ruby');
const STEP = 198_491_317;
const node = { processId: ruby.pid, mac: hexToBytes(`00000${ruby.mac}`) as Uint8Array };
const timeOf = (id: string) => LocalityUuid.parse(id).timestamp?.getTime() as number;
const prefix = (id: string) => id.slice(0, 8);

// Ruby counts modulo 2^32 − 1, so only counters below 2^31 are held to.
const sound = (counter: number) => counter >= 0 && counter < 2 ** 31;

describe('the Ruby library', () => {
  it.each(ruby.variable.filter(({ counter }) => sound(counter)))('makes $s', ({ counter, s }) => {
    const clock = new FakeClock(timeOf(s));
    const generator = new LocalityGenerator({ node, clock, counter: counter - STEP });
    expect(generator.next()).toBe(s);
  });

  it.each(ruby.forced.filter(({ before, after }) => sound(before) && after === before + STEP))(
    'makes $first8 after the counter $before',
    ({ before, first8 }) => {
      expect(prefix(new LocalityGenerator({ node, counter: before }).next())).toBe(first8);
    },
  );

  it('makes these ids in sequential mode', () => {
    const clock = new FakeClock();
    const generator = new LocalityGenerator({ mode: 'sequential', node, clock, counter: ruby.seqInit });
    for (const { s } of ruby.seq) {
      clock.time = timeOf(s);
      expect(generator.next()).toBe(s);
    }
  });

  it('wraps a sequential counter that began below zero', () => {
    const generator = new LocalityGenerator({ mode: 'sequential', node, counter: -2 });
    expect(generator.batch(4).map(prefix)).toEqual(ruby.seqWrapNeg);
  });

  it.each(ruby.decode.filter(({ version }) => version === 'b'))(
    'reads $in',
    ({ in: text, s, pid, mac, ts }) => {
      const uuid = LocalityUuid.parse(text);
      expect(uuid.toString()).toBe(s);
      expect(uuid.processId).toBe(pid);
      expect(uuid.timestamp?.getTime()).toBe(Math.round((ts as number) * 1000));
      const fragment = Buffer.from(uuid.macFragment as Uint8Array).toString('hex');
      expect(fragment.slice(5)).toBe(mac?.slice(5));
    },
  );

  it('takes letters past f for digits, and text with junk around it for an id: both are refused here', () => {
    const accepted = ruby.decode.filter(({ version }) => version !== undefined && version !== 'b');
    expect(accepted).toHaveLength(2);
    for (const { in: text } of accepted) {
      expect(() => LocalityUuid.parse(text)).toThrow(expect.objectContaining({ code: 'INVALID_ID' }));
    }
  });
});
