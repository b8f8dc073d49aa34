import { expect, it } from 'vitest';
import { UserFolder } from './user-folder.ts';

// tsx makes CommonJS of what is imported at the top of such a project, and leaves import() alone: two copies of the package meet.
const PROGRAM = `
import { connect } from 'idsmith/connect';

async function main() {
  for (const url of ['memory:', 'sqlite:./ids.db']) {
    const ids = await connect(url);
    const said = [
      typeof (await ids.flakes('orders')).next(),
      (await ids.locality('events')).next().length,
      (await ids.uuid7('events')).next().length,
      await (await ids.sequence('invoices', { define: { start: 7 } })).next(),
      await (await ids.series('printed', { format: 'INV-{n:6}' })).next(),
      await ids.sequence('missing').catch((error: Error) => error.message.includes('give define')),
    ];
    console.log(url, said.join());
    await ids.close();
  }
}
main();`;

it.each(['commonjs', 'module'])('every family works with tsx in a project of type %s', (type) => {
  const folder = new UserFolder({ 'package.json': JSON.stringify({ type }), 'ids.ts': PROGRAM });
  try {
    expect(folder.run('tsx/dist/cli.mjs', ['ids.ts'])).toEqual({
      status: 0,
      said: 'memory: bigint,36,36,7,INV-000001,true\nsqlite:./ids.db bigint,36,36,7,INV-000001,true\n',
    });
  } finally {
    folder.remove();
  }
});
