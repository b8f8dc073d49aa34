import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './modules.mjs';

const FOLDER = join(ROOT, 'coverage/mutation');
/** Tests that take longer than this, ms, are not tried on mutants that are known to be harmless. */
const QUICK = 2000;
/** By key: the reason why a mutant cannot be noticed. */
const HARMLESS = JSON.parse(readFileSync(new URL('harmless.json', import.meta.url), 'utf8'));

/** What is known about the mutants of a module, kept in a file. Changed sources and tests make only their own results invalid. */
export class Results {
  #file;
  #mutants;
  /** By key: the test that killed a mutant, or those that did not. */
  #outcomes;
  /** By test file: what each test reaches, as keys of mutants. */
  #reach;
  /** By test file: the digest of the file that was run. */
  #digests;

  constructor(name, { mutants, first, tests }, { fresh, survivors }) {
    mkdirSync(FOLDER, { recursive: true });
    this.#file = join(FOLDER, `${name}.json`);
    this.#mutants = mutants;
    const saved = fresh ? {} : readJson(this.#file);
    this.#reach = survivors ? {} : (saved.reach ?? {});
    const known = Object.entries(saved.outcomes ?? {}).filter(([, { killed }]) => killed || !survivors);
    this.#outcomes = new Map(known);
    this.#digests = saved.digests ?? {};
    for (const test of Object.keys(this.#reach))
      if (this.#digests[test] !== digestOf(test)) this.#forget(test);
    // A new test has not been tried on the survivors.
    if (![...first, ...tests].every((test) => this.#reach[test]))
      for (const outcome of this.#outcomes.values()) delete outcome.finished;
  }

  /** Forgets what a test file has shown before it was changed. */
  #forget(test) {
    delete this.#reach[test];
    for (const [key, { killed, tried = [] }] of this.#outcomes)
      if (killed?.test === test || tried.includes(test))
        this.#outcomes.set(key, {
          ...(killed && killed.test !== test && { killed }),
          tried: tried.filter((other) => other !== test),
        });
  }

  #of(key) {
    const found = this.#outcomes.get(key) ?? { tried: [] };
    this.#outcomes.set(key, found);
    return found;
  }

  /** The mutants that are neither killed nor tried by all tests. */
  open() {
    return this.#mutants.filter(({ key }) => {
      const { killed, finished } = this.#of(key);
      return !killed && !finished;
    });
  }

  reach(test) {
    return this.#reach[test];
  }

  setReach(test, tests) {
    const keyOf = new Map(this.#mutants.map(({ number, key }) => [number, key]));
    this.#reach[test] = tests.map(({ name, ms, reached }) => ({
      name,
      ms: Math.round(ms),
      reached: reached.map((number) => keyOf.get(number)),
    }));
    this.#digests[test] = digestOf(test);
    this.#save();
    console.log(`${test}: ${tests.length} tests`);
  }

  /** The time that all tests of a file take without a mutant, ms. */
  #time(test) {
    return this.#reach[test].reduce((sum, { ms }) => sum + ms, 0);
  }

  /** The time for one mutant, ms. Whoever needs so much more is in an endless loop, or waits for what never comes. */
  limit(test) {
    return 2500 + 4 * this.#time(test);
  }

  quickestFirst(tests) {
    return [...tests].sort((a, b) => this.#time(a) - this.#time(b));
  }

  /** The open mutants that a test file reaches and has not been tried on. */
  untried(test) {
    const reached = new Set(this.#reach[test].flatMap((one) => one.reached));
    const isQuick = this.#time(test) <= QUICK;
    return this.open().filter(
      ({ key }) => reached.has(key) && !this.#of(key).tried.includes(test) && (isQuick || !HARMLESS[key]),
    );
  }

  /** The tests of a file that reach each mutant. */
  plan(test, batch) {
    const tests = this.#reach[test].map(({ name, reached }) => ({ name, reached: new Set(reached) }));
    const reaching = (key) => tests.filter(({ reached }) => reached.has(key)).map(({ name }) => name);
    return Object.fromEntries(batch.map(({ number, key }) => [number, reaching(key)]));
  }

  note(test, batch, outcome) {
    for (const { number, key } of batch) {
      if (outcome[number]) this.#of(key).killed = outcome[number];
      else if (outcome[number] === null) this.#of(key).tried.push(test);
    }
    this.#save();
    const tried = batch.filter(({ number }) => outcome[number] !== undefined).length;
    const killed = batch.filter(({ number }) => outcome[number]).length;
    console.log(
      `${new Date().toISOString().slice(11, 19)} ${test}: ${killed} of ${tried} killed, ${this.open().length} left`,
    );
  }

  finish() {
    for (const { key } of this.open()) this.#of(key).finished = true;
    this.#save();
  }

  /** The figures of a module, and what is to be looked at. */
  summary() {
    const counts = { mutants: this.#mutants.length, killed: 0, timedOut: 0, harmless: 0, open: 0 };
    const surviving = [];
    const needless = [];
    for (const { key, file, line } of this.#mutants) {
      const { killed, tried, finished } = this.#of(key);
      const why = HARMLESS[key];
      if (killed && why) needless.push(key);
      if (killed) counts[/out of time|timed out/i.test(killed.error ?? '') ? 'timedOut' : 'killed']++;
      else if (why) counts.harmless++;
      else if (finished) surviving.push({ key, place: `${file}:${line}`, reached: tried.length > 0 });
      else counts.open++;
    }
    return { ...counts, surviving, needless };
  }

  #save() {
    const outcomes = Object.fromEntries(this.#outcomes);
    writeFileSync(this.#file, JSON.stringify({ reach: this.#reach, digests: this.#digests, outcomes }));
  }
}

/** Prints the figures of a module, and writes its survivors to a page. @returns true if nothing is open or unexplained */
export function printReport(name, results) {
  const { surviving, needless, ...counts } = results.summary();
  const row = { ...counts, surviving: surviving.length };
  console.log(
    `${name}: ${Object.entries(row)
      .map(([what, count]) => `${what} ${count}`)
      .join(', ')}`,
  );
  const lines = surviving.map(
    ({ key, place, reached }) => `- ${place} ${reached ? '' : '(no test comes here) '}\`${key}\``,
  );
  const page = [
    `# ${name}`,
    JSON.stringify(row),
    ...lines,
    ...needless.map((key) => `- listed, but killed: \`${key}\``),
  ];
  writeFileSync(join(FOLDER, `${name}.md`), `${page.join('\n')}\n`);
  return surviving.length === 0 && counts.open === 0;
}

const digestOf = (test) =>
  createHash('sha256')
    .update(readFileSync(join(ROOT, test)))
    .digest('hex');

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}
