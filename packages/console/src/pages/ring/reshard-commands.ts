// The commands of a resharding, for the shell of an operator.

/** Text as one word of a shell. */
const word = (text: string) =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The name of the file with the next config, beside the present one: `next.json`. */
export const nextFile = (file: string) => `next${/\.\w+$/.exec(file)?.[0] ?? '.json'}`;

/** The commands to count, to move and to give up, and the start of the server afterwards. */
export function reshardCommands(file: string) {
  const maps = `--from ${word(file)} --to ${nextFile(file)}`;
  return {
    count: `idsmith reshard ${maps} --dry-run`,
    move: `idsmith reshard ${maps} --rate 5000`,
    abort: `idsmith reshard ${maps} --abort`,
    serve: `idsmith serve --shards ${nextFile(file)}`,
  };
}
