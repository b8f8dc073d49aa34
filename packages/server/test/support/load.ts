import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Sends a POST without a body. Resolves to `undefined` if the server is down or does not answer. */
function post(url: string, agent: Agent): Promise<{ status: number; text: string } | undefined> {
  return new Promise((resolve) => {
    const call = request(url, { method: 'POST', agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', () => resolve(undefined));
    });
    call.on('error', () => resolve(undefined));
    call.end();
  });
}

/** Clients that mint until they are stopped, whatever happens to the servers. */
export interface Clients {
  /** Every id that was acknowledged, by path. */
  readonly ids: ReadonlyMap<string, string[]>;
  /** The statuses of calls that got no ids; `undefined` for calls without an answer. */
  readonly failures: readonly (number | undefined)[];
  stop(): Promise<void>;
}

export function startClients(urls: readonly string[], paths: readonly string[], each = 4): Clients {
  const ids = new Map<string, string[]>(paths.map((path) => [path, []]));
  const failures: (number | undefined)[] = [];
  const agent = new Agent({ keepAlive: true });
  let isOver = false;
  const work = urls.flatMap((url) =>
    paths.flatMap((path) =>
      Array.from({ length: each }, async () => {
        while (!isOver) {
          const answer = await post(url + path, agent);
          if (answer?.status === 200) ids.get(path)?.push(...JSON.parse(answer.text).ids);
          else {
            failures.push(answer?.status);
            await sleep(10);
          }
        }
      }),
    ),
  );
  return {
    ...{ ids, failures },
    async stop() {
      isOver = true;
      await Promise.all(work);
      agent.destroy();
    },
  };
}
