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

const packageDir = fileURLToPath(new URL('../packages/idsmith/', import.meta.url));
const dependencies = fileURLToPath(new URL('../node_modules/', import.meta.url));

/** The package.json of idsmith. */
export const manifest = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));

/** Every entry, as programs import it: `idsmith/stores`. */
export const entries: readonly string[] = Object.keys(manifest.exports)
  .filter((entry) => !entry.endsWith('.json'))
  .map((entry) => entry.replace(/^\./, 'idsmith'));

/** A user's folder with nothing in it but the packed tarball: no peer, no dependency. */
export class PackedHome {
  readonly path = mkdtempSync(join(tmpdir(), 'idsmith-packed-'));

  /** @param scripts runs the scripts of packing, which write into the source folder */
  constructor({ scripts = false } = {}) {
    const flags = ['--silent', ...(scripts ? [] : ['--ignore-scripts'])];
    execFileSync('npm', ['pack', ...flags, '--pack-destination', this.path], { cwd: packageDir });
    const tarball = readdirSync(this.path).find((name) => name.endsWith('.tgz')) as string;
    mkdirSync(this.installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(this.path, tarball), '-C', this.installed, '--strip-components=1']);
  }

  /** The folder of the installed package. */
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
