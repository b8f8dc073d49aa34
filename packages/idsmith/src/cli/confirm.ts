import { createInterface } from 'node:readline/promises';
import { type Given, Interrupted, UsageError } from './command.js';

/**
 * Asks the user before something that cannot be undone. `--yes` is the answer of scripts.
 *
 * @throws UsageError where there is nobody to ask
 * @throws Interrupted when the user does not want it
 */
export async function confirm(given: Given, what: string): Promise<void> {
  if (given.on('yes')) return;
  const { stdin, stderr } = given.io;
  if (stdin.isTTY !== true) throw new UsageError(`${what}. --yes says that this is meant`);
  const questions = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await questions.question(`${what}. Go on? [y/N] `, { signal: given.signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new Interrupted('nothing was done', 1);
  } finally {
    questions.close();
  }
}
