import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Sends a POST without a body. An answer that did not come has the code of the error instead of a status. */
function post(url: string, agent: Agent): Promise<{ status: number | string; text: string }> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? error.message, text: '' });
    const call = request(url, { method: 'POST', agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', fail);
    });
    call.on('error', fail);
    call.end();
  });
}

/** Clients that mint until they are stopped, whatever happens to the servers. */
export interface Clients {
  /** Every id that was acknowledged, by path. */
  readonly ids: ReadonlyMap<string, string[]>;
  /** The statuses of calls that got no ids, or the codes of their errors. */
  readonly failures: readonly (number | string)[];
  stop(): Promise<void>;
}

/** @param moves whether a client goes to the next server when its own accepts no connection */
export function startClients(
  urls: readonly string[],
  paths: readonly string[],
  each = 4,
  moves = false,
): Clients {
  const ids = new Map<string, string[]>(paths.map((path) => [path, []]));
  const failures: (number | string)[] = [];
  const agent = new Agent({ keepAlive: true });
  let isOver = false;
  const work = urls.flatMap((_, start) =>
    paths.flatMap((path) =>
      Array.from({ length: each }, async () => {
        for (let at = start; !isOver; ) {
          const { status, text } = await post(urls[at]! + path, agent);
          if (status === 200) ids.get(path)?.push(...JSON.parse(text).ids);
          else {
            failures.push(status);
            if (moves && status === 'ECONNREFUSED') at = (at + 1) % urls.length;
            await sleep(10);
          }
        }
      }),
    ),
  );
  return {
    ids,
    failures,
    async stop() {
      isOver = true;
      await Promise.all(work);
      agent.destroy();
    },
  };
}
