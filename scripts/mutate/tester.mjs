import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadModule } from './modules.mjs';

/** The longest time of a run without a mutant, ms. */
const OBSERVATION = 300_000;

/** The time that a process needs to load the tests, ms, also on a busy machine. */
const LOADING = 40_000;

/** The time that a suite needs to start its servers for a mutant, ms, also on a busy machine. */
const STARTING = 15_000;

/** Runs test files in another process, which is replaced when a mutant hangs or kills it. */
export class Tester {
  #name;
  #folder = mkdtempSync(join(tmpdir(), 'idsmith-mutate-'));
  #session;
  /** The number of no mutant. The tests of a batch run with it once more at the end, to show that they can be repeated. */
  #control;

  constructor(name) {
    this.#name = name;
    this.#control = loadModule(name).mutants.length + 1;
  }

  get #progress() {
    return join(this.#folder, 'progress');
  }

  /** Runs a test file without a mutant. @returns the mutants that each test reaches */
  async observe(test) {
    const { tests, errors } = (await this.#ask({ test, mutants: {}, limit: OBSERVATION }, OBSERVATION)) ?? {
      tests: [],
      errors: ['no end'],
    };
    const failed = tests.find(({ state }) => state === 'failed');
    if (failed || errors.length > 0)
      throw new Error(
        `${test} fails without a mutant: ${failed ? `${failed.name}: ${failed.error}` : errors[0]}`,
      );
    return tests.filter(({ reached }) => reached).map(({ name, ms, reached }) => ({ name, ms, reached }));
  }

  /**
   * Runs a test file with each mutant. A test may fail by chance, or on a busy machine, so a mutant is killed only if it fails twice.
   *
   * @param plan the tests that reach each mutant
   * @param limit the time of one mutant, ms
   * @returns for each mutant that was tried, `null` if no test failed, or else the test and its error
   */
  async run(test, plan, limit) {
    const outcome = await this.#runOnce(test, plan, limit);
    const killed = Object.keys(outcome).filter((number) => outcome[number]);
    if (killed.length === 0) return outcome;
    const again = Object.fromEntries(killed.map((number) => [number, plan[number]]));
    const second = await this.#runOnce(test, again, limit);
    for (const number of killed) outcome[number] = second[number];
    return outcome;
  }

  /**
   * Runs a test file once for each mutant.
   *
   * @returns as `run` does
   */
  async #runOnce(test, plan, limit) {
    const mutants = { ...plan, [this.#control]: [...new Set(Object.values(plan).flat())] };
    const answer = await this.#ask({ test, mutants, limit }, STARTING + 2 * limit);
    if (answer === undefined) return this.#afterSilence(test, plan, limit);
    if (answer.errors.length > 0) throw new Error(`${test}: ${answer.errors[0]}`);
    const outcome = Object.fromEntries(Object.keys(plan).map((number) => [number, null]));
    const broken = answer.tests.find(({ number, state }) => number === this.#control && state === 'failed');
    if (broken && Object.keys(plan).length > 1) return this.#inHalves(test, plan, limit);
    if (broken) {
      console.log(
        `${test} fails without a mutant when it is repeated, so it counts for nothing: ${broken.error}`,
      );
      return outcome;
    }
    for (const { number, name, state, error } of answer.tests)
      if (state === 'failed') outcome[number] ??= { test, name, error };
    return outcome;
  }

  /** One of the mutants disturbs the tests that come after it. Apart from that one, the others can be tried. */
  async #inHalves(test, plan, limit) {
    const entries = Object.entries(plan);
    const middle = Math.ceil(entries.length / 2);
    const first = await this.#runOnce(test, Object.fromEntries(entries.slice(0, middle)), limit);
    const second = await this.#runOnce(test, Object.fromEntries(entries.slice(middle)), limit);
    return { ...first, ...second };
  }

  /** A busy machine may have kept a process from going on, so the mutant that it stopped at is tried again, alone. */
  async #afterSilence(test, plan, limit) {
    const number = Number(readFileSync(this.#progress, 'utf8'));
    if (number === 0) return {};
    const isAlone = Object.keys(plan).length === 1;
    if (number === this.#control && !isAlone) return this.#inHalves(test, plan, limit);
    if (number === this.#control) return Object.fromEntries(Object.keys(plan).map((each) => [each, null]));
    if (isAlone) return { [number]: { test, name: 'the process', error: 'out of time' } };
    return this.#runOnce(test, { [number]: plan[number] }, limit);
  }

  /**
   * @param silence the longest time without a new mutant, ms: a process that is silent for longer is in an endless loop
   * @returns `undefined` if the process has come to no end
   */
  async #ask(question, silence) {
    this.#session ??= await this.#start();
    const session = this.#session;
    writeFileSync(this.#progress, '0');
    return new Promise((resolve) => {
      let last = '';
      let since = performance.now();
      const watch = setInterval(() => {
        const now = readFileSync(this.#progress, 'utf8');
        if (now !== last) since = performance.now();
        last = now;
        const longest = now === '0' ? LOADING + silence : silence;
        if (performance.now() - since > longest) session.kill('SIGKILL');
      }, 1000);
      const settle = (answer) => {
        clearInterval(watch);
        session.removeAllListeners();
        if (answer === undefined) this.#session = undefined;
        resolve(answer);
      };
      session.once('message', settle);
      session.once('exit', () => settle(undefined));
      session.send(question);
    });
  }

  #start() {
    const session = fork(new URL('session.mjs', import.meta.url), [this.#name, this.#progress], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    return new Promise((resolve, reject) => {
      session.once('message', () => resolve(session));
      session.once('exit', (code) => reject(new Error(`the session ended with ${code}`)));
    });
  }

  stop() {
    this.#session?.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
