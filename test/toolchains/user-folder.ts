import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const installed = fileURLToPath(new URL('node_modules', import.meta.url));

/** A project of a user, with the packages of this folder and the packed idsmith. */
export class UserFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'idsmith-toolchain-'));

  constructor(files: Record<string, string>) {
    symlinkSync(installed, join(this.path, 'node_modules'));
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  /** Runs a program of an installed package. Gives its exit code, and everything that it has said. */
  run(program: string, args: readonly string[], env: Record<string, string> = {}) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(installed, program), ...args], {
      cwd: this.path,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    return { status, said: `${stdout}${stderr}` };
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
