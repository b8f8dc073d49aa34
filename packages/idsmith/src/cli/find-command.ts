import { nearestName } from '../options.js';
import { firstOperand } from './arguments.js';
import { COMMON_FLAGS, type Command, type CommandGroup, UsageError } from './command.js';

/** The command that the user means, and its arguments. */
export interface Found {
  readonly command: Command;
  readonly args: readonly string[];
}

/**
 * The command of a group that the arguments name; `undefined` if they ask for the help of the group.
 *
 * @throws UsageError naming the commands of the group, and the nearest one
 */
export function findInGroup(group: CommandGroup, args: readonly string[]): Found | undefined {
  const flags = Object.assign({}, ...group.commands.map((command) => command.flags), COMMON_FLAGS);
  const at = firstOperand(group.name, flags, args);
  const word = args[at];
  const isHelp = args.includes('--help') || args.includes('-h');
  if (word === undefined && isHelp) return undefined;
  if (word === 'help') return findInGroup(group, [...args.slice(at + 1), '--help']);
  const command = group.commands.find(({ name }) => name === `${group.name} ${word}`);
  if (command !== undefined) return { command, args: args.toSpliced(at, 1) };
  const words = group.commands.map(({ name }) => name.slice(group.name.length + 1));
  throw new UsageError(`${group.name} needs one of ${words.join(', ')}${insteadOf(word, words)}`);
}

/** The end of a message about an unknown word: the word, and the nearest known one. */
function insteadOf(word: string | undefined, known: readonly string[]): string {
  if (word === undefined) return '';
  const nearest = nearestName(word, known);
  return `, not ${JSON.stringify(word)}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}
