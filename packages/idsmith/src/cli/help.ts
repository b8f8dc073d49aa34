import { COMMON_FLAGS, type Command, type CommandGroup } from './command.js';

/** The narrowest column for the text of a flag. A terminal with less room breaks the lines itself. */
const NARROWEST = 24;

/**
 * The help of one command.
 *
 * @param columns the width of the terminal; default: lines are not broken
 */
export function helpOf(command: Command, columns = Number.POSITIVE_INFINITY): string[] {
  const rows = Object.entries({ ...command.flags, ...COMMON_FLAGS }).map(([name, flag]) => {
    const short = flag.short === undefined ? '    ' : `-${flag.short}, `;
    return {
      left: `  ${short}--${name}${flag.value === undefined ? '' : ` ${flag.value}`}`,
      help: flag.help,
    };
  });
  const indent = Math.max(...rows.map(({ left }) => left.length)) + 2;
  const room = columns - indent < NARROWEST ? Number.POSITIVE_INFINITY : columns - indent;
  const flags = rows.flatMap(({ left, help }) =>
    broken(help, room).map((line, i) => (i === 0 ? left : '').padEnd(indent) + line),
  );
  return [
    `${command.summary}.`,
    '',
    `Usage: idsmith ${`${command.name} ${command.usage}`.trim()}`,
    '',
    ...flags,
    '',
    `Example: ${command.example}`,
  ];
}

/** The text in lines of at most `width` characters, broken at spaces. */
function broken(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The help of commands with a common first word. */
export function helpOfGroup({ summary, commands }: CommandGroup): string[] {
  const lines = commands.map((command) => [`${command.name} ${command.usage}`.trim(), command.summary]);
  return [
    `${summary}.`,
    '',
    ...lines.flatMap(([usage, text]) => [`  idsmith ${usage}`, `      ${text}`]),
    '',
    `Run idsmith help ${commands[0]?.name} for the flags of one of them. Example: ${commands[0]?.example}`,
  ];
}

/** The help of `idsmith` itself. */
export function overview(commands: readonly { readonly name: string; readonly summary: string }[]): string[] {
  return [
    'Usage: idsmith <command>',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`),
    '',
    'Run idsmith help <command> for its flags. Example: idsmith locality -n 5',
    'The variable IDSMITH_STORE stands in for --store in every command that takes it.',
  ];
}
