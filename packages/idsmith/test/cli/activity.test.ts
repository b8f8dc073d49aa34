import { describe, expect, it } from 'vitest';
import { Activity, ProgressBar } from '../../src/cli/activity.ts';

/** What a person sees, with timers that go off by hand. */
function made(isVerbose: boolean, isTTY: boolean) {
  const seen: string[] = [];
  const timers = new Set<() => void>();
  const activity = new Activity(
    isVerbose,
    { isTTY, write: (text) => seen.push(text) },
    {
      after(ms, fn, background) {
        expect({ ms, background }).toEqual({ ms: 3000, background: true });
        timers.add(fn);
        return () => timers.delete(fn);
      },
    },
  );
  const pass = () => {
    for (const fn of timers) fn();
    timers.clear();
  };
  return { activity, seen, pass };
}

describe('The activity of a command', () => {
  it('is told at once with --verbose, also without a terminal', () => {
    const { activity, seen, pass } = made(true, false);
    activity.say('making the database');
    activity.wait('waiting for the store');
    activity.wait('waiting 2 s', 2000);
    pass();
    expect(seen).toEqual([
      'idsmith: making the database\n',
      'idsmith: waiting for the store\n',
      'idsmith: waiting 2 s\n',
    ]);
  });

  it('is told at a terminal when a wait is long', () => {
    const { activity, seen, pass } = made(false, true);
    activity.say('making the database');
    activity.wait('waiting for the store');
    expect(seen).toEqual([]);
    pass();
    expect(seen).toEqual(['idsmith: still waiting for the store\n']);
    activity.wait('waiting 81 s', 81_000);
    activity.wait('waiting 2 s', 2000);
    pass();
    expect(seen.slice(1)).toEqual(['idsmith: waiting 81 s\n']);
  });

  it('is not told when the wait has ended', () => {
    const { activity, seen, pass } = made(false, true);
    activity.wait('waiting for the store');
    activity.end();
    pass();
    expect(seen).toEqual([]);
  });

  it('is told to a script only when a wait is known to be long', () => {
    const { activity, seen, pass } = made(false, false);
    activity.say('making the database');
    activity.wait('waiting for the store');
    activity.wait('waiting 2 s', 2000);
    pass();
    expect(seen).toEqual([]);
    activity.wait('waiting 81 s', 81_000);
    expect(seen).toEqual(['idsmith: waiting 81 s\n']);
  });

  it('shows unseen characters of names', () => {
    const { activity, seen } = made(true, false);
    activity.say('a\u001B[2J');
    expect(seen).toEqual(['idsmith: a\\u{1b}[2J\n']);
  });
});

describe('The progress bar', () => {
  it('is drawn on a terminal within its width, and nowhere else', () => {
    const shown: string[] = [];
    const screen = { isTTY: true, columns: 40, write: (text: string) => void shown.push(text) };
    const bar = new ProgressBar(screen);
    bar.show(0.5, 'a text that is longer than the terminal is wide');
    bar.end();
    expect(shown[0]).toBe('\r\u001B[2K[############------------] a text that ');
    expect(shown[1]).toBe('\r\u001B[2K');
    const pipe = new ProgressBar({ write: () => expect.unreachable() });
    pipe.show(1, 'done');
    pipe.end();
  });
});
