import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/** The libraries that a user installs, by their folders. */
const LIBRARIES = ['idsmith', 'shard', 'oracle', 'verify'];
const folderOf = (library: string) => fileURLToPath(new URL(`../packages/${library}/`, import.meta.url));
const manifestOf = (library: string) =>
  JSON.parse(readFileSync(join(folderOf(library), 'package.json'), 'utf8'));
const dependencies = fileURLToPath(new URL('../node_modules/', import.meta.url));

/** The package.json of idsmith. */
export const manifest = manifestOf('idsmith');

/** Every entry, as programs import it: `idsmith/stores`. */
export const entries: readonly string[] = LIBRARIES.map(manifestOf).flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => entry.replace(/^\./, name)),
);

/** The entries that are not for Node alone: no part of the command line, and not the fault laboratory. */
export const libraryEntries = entries.filter(
  (entry) => !entry.endsWith('/cli') && entry !== '@idsmith/verify',
);

/** A user's folder with nothing in it but the packed tarballs: no peer, no dependency. */
export class PackedHome {
  readonly path = mkdtempSync(join(tmpdir(), 'idsmith-packed-'));

  /** @param scripts runs the scripts of packing, which write into the source folder */
  constructor({ scripts = false } = {}) {
    const flags = ['--silent', ...(scripts ? [] : ['--ignore-scripts'])];
    for (const library of LIBRARIES) {
      execFileSync('npm', ['pack', ...flags, '--pack-destination', this.path], { cwd: folderOf(library) });
      const tarball = join(this.path, readdirSync(this.path).find((name) => name.endsWith('.tgz')) as string);
      const installed = join(this.path, 'node_modules', manifestOf(library).name);
      mkdirSync(installed, { recursive: true });
      execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
      rmSync(tarball);
    }
  }

  /** The folder of the installed idsmith. */
  get installed(): string {
    return join(this.path, 'node_modules', 'idsmith');
  }

  /** Installs another package, which is there for programs in the folder and not for idsmith's own tests. */
  link(name: string): void {
    const target = join(this.path, 'node_modules', name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(dependencies, name), target);
  }

  /** Removes a package that was linked. */
  unlink(name: string): void {
    rmSync(join(this.path, 'node_modules', name), { recursive: true });
  }

  write(name: string, text: string): string {
    const file = join(this.path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Runs a program that must succeed and print nothing on standard error. Returns its output. */
  run(file: string, env: Record<string, string> = {}): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
      cwd: dirname(file),
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout.trim();
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
