import { COMMON_FLAGS, type Command, type CommandGroup } from './command.js';

/** The help of one command. */
export function helpOf(command: Command): string[] {
  const flags = Object.entries({ ...command.flags, ...COMMON_FLAGS }).map(([name, flag]) => {
    const short = flag.short === undefined ? '    ' : `-${flag.short}, `;
    return `  ${`${short}--${name}${flag.value === undefined ? '' : ` ${flag.value}`}`.padEnd(23)} ${flag.help}`;
  });
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
