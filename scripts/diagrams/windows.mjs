// Two processes and one node id: a run of the real leases in fake time, drawn.

import { acquireLease, FlakeGenerator, layouts, memoryStore } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { box, line, picture, text, WIDTH } from './svg.mjs';

const START = Date.UTC(2026, 0, 1);
const TTL = 30_000;
/** The first process stops here, in the middle of its work, and wakes much later. */
const PAUSED = 38_000;
const WAKES = 85_000;
const SECONDS = 100;

const LEFT = 84;
const scale = (WIDTH - LEFT - 12) / SECONDS;
const at = (seconds) => LEFT + seconds * scale;

export async function windows() {
  const run = await pausedHolder();
  const [first, second] = [44, 108];
  const body = [
    text(0, first + 18, 'process A'),
    text(0, second + 18, 'process B'),
    // What A had when it stopped, and what it does not know on waking.
    ...window(0, run.fence, first, 'first', `A's window`),
    ...mark(run.renewed, first, 'renewed'),
    ...mark(PAUSED / 1000, first, 'paused'),
    ...window(run.since, run.until, second, 'second', `B's window`),
    line(at(run.fence), first - 16, at(run.fence), second + 44),
    text(at(run.fence) - 4, first - 8, `the fence: A's timestamps are lower, B's are not`, {
      of: 'small',
      anchor: 'end',
    }),
    box(at(WAKES / 1000) - 4, first, 8, 28, 'refused'),
    ...mark(WAKES / 1000, first, `wakes: ${run.refusal}`),
    text(at(0), second + 58, 'time in ids, in seconds', { of: 'small' }),
    ...[0, 20, 40, 60, 80, 100].map((tick) =>
      text(at(tick), second + 42, tick, { of: 'small', anchor: 'middle' }),
    ),
  ];
  return picture(
    'Windows of time: a process that was paused mints nothing in the window of the next',
    172,
    body,
  );
}

const window = (from, to, y, of, label) => [
  box(at(from), y, (to - from) * scale, 28, of),
  text(at((from + to) / 2), y + 18, label, { of: 'on', anchor: 'middle' }),
];

const mark = (seconds, y, label) => [
  line(at(seconds), y + 28, at(seconds), y + 34),
  text(at(seconds), y + 44, label, { of: 'small', anchor: 'middle' }),
];

/** A takes the only node id and is paused; B takes it over; A wakes. Returns what the leases said, in seconds. */
async function pausedHolder() {
  const store = memoryStore();
  const [timeOfA, timeOfB] = [new FakeTime(START), new FakeTime(START)];
  const random = { fill: (bytes) => bytes.fill(7) };
  const lease = (time) =>
    acquireLease(store, {
      namespace: 'orders',
      layout: layouts.jflake,
      size: 1,
      ttl: TTL,
      label: 'drawn',
      clock: time.clock(),
      timer: time,
      random,
    });
  const a = await lease(timeOfA);
  const idsOfA = new FlakeGenerator({ node: a, clock: timeOfA.clock() });
  const renewals = [];
  a.on('renewed', () => renewals.push(seconds(timeOfA.now)));
  await timeOfA.advance(PAUSED);
  const fence = seconds(a.until);

  await timeOfB.advance(a.until - START + 1000);
  const b = await lease(timeOfB);
  const { since, until } = { since: seconds(timeOfB.now), until: seconds(b.until) };

  timeOfA.now = START + WAKES;
  let refusal = 'nothing';
  try {
    idsOfA.next();
  } catch (error) {
    refusal = `${error.name}`;
  }
  return { fence, renewed: renewals.at(-1), since, until, refusal };
}

const seconds = (ms) => (ms - START) / 1000;
