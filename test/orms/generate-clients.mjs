// Generates the clients of Prisma, one for each database.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

// The engine is not needed for that, and would be downloaded.
const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', PRISMA_HIDE_UPDATE_MESSAGE: '1' };

for (const provider of ['postgresql', 'mysql', 'sqlite']) {
  const schema = join('prisma', `${provider}.prisma`);
  const command = [join('node_modules', '.bin', 'prisma'), 'generate', '--no-hints', '--schema', schema];
  const { status } = spawnSync(command[0], command.slice(1), { stdio: 'inherit', env });
  if (status !== 0) process.exit(1);
}
