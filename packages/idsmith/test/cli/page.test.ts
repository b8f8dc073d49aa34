import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Command, CommandGroup } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/main.ts';

// docs/cli.md against the commands themselves. Other packages describe the flags of their commands on pages of their own.

const page = (name: string) => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');
const cli = page('cli.md');

/** The text below a heading of the second level. */
function sectionOf(text: string, heading: string): string {
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
  return section ?? '';
}

/** Where the flags of a command are described. */
const sectionOfCommand = (name: string) =>
  name === 'public' ? sectionOf(page('public.md'), 'On the command line') : sectionOf(cli, name);

/** `--store`, `--verbose` and the like are in the section for every command. */
const common = sectionOf(cli, 'For every command');

const commandsOf = (loaded: Command | CommandGroup) => ('commands' in loaded ? loaded.commands : [loaded]);
const own = COMMANDS.filter((command) => !('from' in command));

describe('docs/cli.md', () => {
  it.each(COMMANDS.map(({ name }) => name))('has %s in its table of commands', (name) => {
    expect(cli).toMatch(new RegExp(`^\\| \\[\`${name}[ \`]`, 'm'));
  });

  it.each(own)('has every flag of $name', async ({ name, load }) => {
    const section = sectionOfCommand(name);
    const flags = commandsOf(await load()).flatMap((command) => Object.keys(command.flags));
    const missing = flags.filter(
      (flag) => ![section, common].some((text) => new RegExp(`--${flag}\\b(?!-)`).test(text)),
    );
    expect(missing).toEqual([]);
  });

  it.each(own)('has no flag that $name does not take', async ({ name, load }) => {
    const flags = new Set(commandsOf(await load()).flatMap((command) => Object.keys(command.flags)));
    // Examples may pipe from other commands.
    const prose = sectionOfCommand(name).replace(/^```[\s\S]*?^```$/gm, '');
    const named = Array.from(prose.matchAll(/(?<![\w-])--([a-z][a-z0-9-]+)/g), ([, flag]) => flag as string);
    expect(named.filter((flag) => !['json', 'help'].includes(flag) && !flags.has(flag))).toEqual([]);
  });
});
