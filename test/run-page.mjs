// Runs the programs and commands of a page one after the other, in the present folder: node run-page.mjs STEPS, a JSON array of
// { file } and { command }. Prints what each has printed, as a JSON array. A page takes one start of Node instead of one a block.

import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { run } from '../packages/idsmith/dist/cli/main.js';

const write = process.stdout.write.bind(process.stdout);
const results = [];

for (const { file, command } of JSON.parse(process.argv[2])) {
  const result = { status: 0, stdout: '', stderr: '' };
  const collect = (name) => (chunk, encoding, done) => {
    result[name] += chunk;
    (typeof encoding === 'function' ? encoding : done)?.();
    return true;
  };
  if (file !== undefined) {
    process.stdout.write = collect('stdout');
    process.stderr.write = collect('stderr');
    try {
      await import(pathToFileURL(file));
      // A service runs until its platform tells it to end.
      if (process.listenerCount('SIGTERM') > 0) process.emit('SIGTERM', 'SIGTERM');
    } catch (error) {
      result.status = 1;
      result.stderr += error.stack;
    }
  } else {
    const stream = (name) => new Writable({ write: collect(name), decodeStrings: false });
    const io = { stdin: Readable.from([]), stdout: stream('stdout'), stderr: stream('stderr') };
    result.status = await run(wordsOf(command), { ...io, env: process.env });
  }
  results.push(result);
}

process.stdout.write = write;
write(JSON.stringify(results));

/** The words of a command, as a shell reads them: `''` is an empty one. */
function wordsOf(command) {
  return command.match(/'[^']*'|\S+/g).map((word) => word.replace(/^'(.*)'$/, '$1'));
}
