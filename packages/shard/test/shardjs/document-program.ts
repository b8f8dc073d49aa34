import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCUMENT = readFileSync(new URL('document.md', import.meta.url), 'utf8');

/** The fragments of the document by name. */
const fragments = Object.fromEntries(
  [...DOCUMENT.matchAll(/^```js (\w+)\n(.*?)\n```$/gms)].map(([, name, code]) => [name!, code!]),
);

/** The config file of the document: a module in CommonJS. */
export const DOCUMENT_CONFIG = fragments.config!;

/** Fragments that are expressions. The program keeps their values by name. */
const EXPRESSIONS = [
  'getClient',
  'whereIs',
  'virtual',
  'toDecimalString',
  'fixedKey',
  'changeKeyType',
  'changeKeyTypeByName',
];

/**
 * Writes a program that runs all fragments of the document, and prints the values as JSON. The servers and the login are those
 * of the test. The document asks its readers to add the type `token`.
 */
export function writeDocumentProgram(folder: string, ports: readonly number[], auth: object): string {
  const file = join(folder, 'program.cjs');
  writeFileSync(
    join(folder, 'shardjs-config.cjs'),
    `${DOCUMENT_CONFIG}
    ${JSON.stringify(ports)}.forEach((port, i) => {
      const { shards } = exports.config;
      shards[i] = [String(port), '127.0.0.1', shards[i][2]];
    });
    exports.config.auth = ${JSON.stringify(auth)};
    exports.config.options.keyTypes.token = 61;`,
  );
  writeFileSync(
    file,
    `${fragments.require!.replace('./shardjs-config', './shardjs-config.cjs')}
    const results = { emails: Shard.specialKeys.emails };
    const errors = [];
    // A command without a callback returns a promise, whose rejection ends a program that does not handle it.
    process.on('unhandledRejection', (error) => errors.push(error.message));
    const callback = (error) => {
      errors.push(error.message);
      setImmediate(store);
    };
    let key, user_key;
    const [timestamp, variant, keytype, suffix] = [2, 0, 0, 'emails'];
    function do_something(given) {
      key = user_key = results.key = given;
      ${EXPRESSIONS.map((name) => `results.${name} = ${fragments[name]}`).join('\n')}
      results.getClient = typeof results.getClient.hset;
      results.type = Shard.getType(key);
      results.time = Shard.getTime(key);
      ${fragments.hset}
    }
    function store() {
      Shard.getClient(key).hset(key, 'name', 'Ada', () => {
        Shard.getClient(key).hget(key, 'name', (error, name) => {
          Object.assign(results, { name, errors });
          console.log(JSON.stringify(results));
          Shard.close();
        });
      });
    }
    ${fragments.genKey}`,
  );
  return file;
}
