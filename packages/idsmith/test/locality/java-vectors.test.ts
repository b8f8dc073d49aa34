import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { bytesToHex, hexToBytes } from '../../src/encoding/hex.ts';
import { sequentialSeed } from '../../src/locality/seed.ts';
import { vectors } from '../support/vectors.ts';

interface Id {
  input: string;
  string: string;
  bytesHex: string;
  version: string;
  processId: number;
  macFragment: number[] | null;
  timestampMs: number | null;
  msb: string;
  lsb: string;
  msbUnsigned: string;
  lsbUnsigned: string;
}
interface Java {
  meta: { 'UUID.PID': number; 'UUID.MAC': string };
  variable: { counterBefore: number; ids: Id[] };
  variableForced: { counterBefore: number; first8: string }[];
  sequential: { calledAtMs: number; ids: Id[] };
  toggle: { firstVariableId: string; firstId: string; wrapFromMinus2: string[] };
  sequentialSeeds: { atMs: number; initial: number; firstIdPrefix: string }[];
  sequentialReal: { at: string; firstIdPrefix: string }[];
  decode: Id[];
  isValid: { input: string | null; isValidUUID: boolean; construct: { ok?: string; error?: string } }[];
  longs: { msb: string; lsb: string; string: string }[];
  readme: {
    variableRun: string[];
    variableRunFirstCounterCandidatesHex: string[];
    sequentialRun: { firstShown: string };
  };
}

const java = vectors<Java>('locality-java');
const STEP = 198_491_317;
const node = { processId: java.meta['UUID.PID'], mac: hexToBytes(java.meta['UUID.MAC']) as Uint8Array };
const prefix = (id: string) => id.slice(0, 8);

/** Mints the listed ids, each at its own time. The recording took every second id of the run. */
function expectEverySecond(generator: LocalityGenerator, clock: FakeClock, ids: Id[]): void {
  for (const id of ids) {
    clock.time = id.timestampMs as number;
    expect(generator.next()).toBe(id.string);
    generator.next();
  }
}

describe('the Java library', () => {
  it('makes these 100 ids in variable mode', () => {
    const clock = new FakeClock();
    const counter = java.variable.counterBefore;
    const generator = new LocalityGenerator({ reversal: 'java', node, clock, counter });
    expectEverySecond(generator, clock, java.variable.ids);
  });

  it.each(java.variableForced)(
    'makes $first8 after the counter $counterBefore',
    ({ counterBefore, first8 }) => {
      const clock = new FakeClock(0);
      const make = () => new LocalityGenerator({ reversal: 'java', node, clock, counter: counterBefore });
      expect(prefix(make().next())).toBe(first8);
      expect(prefix(make().nextUuid().toString())).toBe(first8);
    },
  );

  it('makes these ids in sequential mode and after each toggle', () => {
    const { sequential, toggle } = java;
    const clock = new FakeClock(sequential.calledAtMs);
    const generator = new LocalityGenerator({ reversal: 'java', node, clock });
    generator.useSequentialIds();
    expectEverySecond(generator, clock, sequential.ids);

    generator.useSequentialIds();
    generator.useVariableIds();
    clock.time = LocalityUuid.parse(toggle.firstVariableId).timestamp?.getTime() as number;
    expect(generator.next()).toBe(toggle.firstVariableId);

    generator.useVariableIds();
    clock.time = LocalityUuid.parse(toggle.firstId).timestamp?.getTime() as number;
    generator.useSequentialIds();
    expect(generator.next()).toBe(toggle.firstId);
  });

  it('wraps a sequential counter', () => {
    const generator = new LocalityGenerator({ mode: 'sequential', node, counter: -2 });
    expect(generator.batch(3).map(prefix)).toEqual(java.toggle.wrapFromMinus2);
  });

  it.each(java.sequentialSeeds)('seeds $initial at $atMs', ({ atMs, initial, firstIdPrefix }) => {
    expect(sequentialSeed(atMs, 'ten-minutes')).toBe(initial);
    const generator = new LocalityGenerator({ mode: 'sequential', node, clock: new FakeClock(atMs) });
    expect(prefix(generator.next())).toBe(firstIdPrefix);
  });

  it.each(java.sequentialReal)('starts with $firstIdPrefix at $at', ({ at, firstIdPrefix }) => {
    const generator = new LocalityGenerator({ node, clock: new FakeClock(Date.parse(at)) });
    generator.useSequentialIds();
    expect(prefix(generator.next())).toBe(firstIdPrefix);
  });

  it.each(java.decode)('reads $input', (id) => {
    const absent = id.version === 'b' ? undefined : 'absent';
    for (const uuid of [
      LocalityUuid.parse(id.input),
      LocalityUuid.fromBytes(hexToBytes(id.bytesHex) as Uint8Array),
      LocalityUuid.fromBits(BigInt(id.msb), BigInt(id.lsb)),
      LocalityUuid.fromBits(BigInt(id.msbUnsigned), BigInt(id.lsbUnsigned)),
    ]) {
      expect(uuid.toString()).toBe(id.string);
      expect(bytesToHex(uuid.toBytes())).toBe(id.bytesHex);
      expect(uuid.version).toBe(id.version);
      expect(uuid.processId).toBe(absent ? undefined : id.processId);
      expect(uuid.timestamp?.getTime()).toBe(absent ? undefined : id.timestampMs);
      expect(uuid.macFragment && [...uuid.macFragment]).toEqual(absent ? undefined : id.macFragment);
      expect(uuid.mostSignificantBits).toBe(BigInt(id.msb));
      expect(uuid.leastSignificantBits).toBe(BigInt(id.lsb));
    }
  });

  it.each(java.isValid)('judges $input as $isValidUUID', ({ input, isValidUUID, construct }) => {
    expect(LocalityUuid.isValid(input)).toBe(isValidUUID);
    if (construct.ok !== undefined) expect(`${LocalityUuid.parse(input as string)}`).toBe(construct.ok);
    else
      expect(() => LocalityUuid.parse(input as string)).toThrow(
        expect.objectContaining({ code: 'INVALID_ID' }),
      );
  });

  it.each(java.longs)('reads the longs $msb and $lsb as $string', ({ msb, lsb, string }) => {
    expect(LocalityUuid.fromBits(BigInt(msb), BigInt(lsb)).toString()).toBe(string);
  });
});

describe("upstream's readme", () => {
  it.each(java.readme.variableRunFirstCounterCandidatesHex)('shows the run that starts with %s', (first) => {
    const counter = Number.parseInt(first, 16) - STEP;
    const generator = new LocalityGenerator({ reversal: 'java', node, counter });
    expect(generator.batch(8).map(prefix)).toEqual(java.readme.variableRun);
  });

  it('shows a run that the full reversal does not make', () => {
    const counter = Number.parseInt(java.readme.variableRunFirstCounterCandidatesHex[2] as string, 16) - STEP;
    const generator = new LocalityGenerator({ node, counter });
    expect(generator.batch(8).map(prefix)).not.toEqual(java.readme.variableRun);
  });

  it('shows the second id of a sequential run', () => {
    const clock = new FakeClock(Date.UTC(2013, 3, 28, 1, 4));
    const generator = new LocalityGenerator({ mode: 'sequential', node, clock });
    expect(prefix(generator.batch(2)[1] as string)).toBe(java.readme.sequentialRun.firstShown);
  });
});
