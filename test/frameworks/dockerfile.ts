/** One instruction of a Dockerfile: `RUN`, and what follows it. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The instructions of each stage, the stage's name first if it has one. */
export function stagesOf(dockerfile: string): Instruction[][] {
  const lines = dockerfile.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, rest });
  }
  return stages;
}

/** The text after each instruction of a name. */
export function all(stage: readonly Instruction[], name: string): string[] {
  return stage.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
}

/** The one JSON array after the last instruction of a name, such as `CMD ["serve"]`. */
export function command(stage: readonly Instruction[], name: string): string[] {
  const [rest = '[]'] = all(stage, name).slice(-1);
  return JSON.parse(rest.slice(rest.indexOf('['))) as string[];
}
