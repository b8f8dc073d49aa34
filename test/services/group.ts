import type { ServerProcess } from './process.ts';

/** Several servers that belong together. Each one can be killed, paused and restarted on its own. */
export class ServerGroup<Server extends ServerProcess> {
  readonly nodes: readonly Server[];

  constructor(nodes: readonly Server[]) {
    this.nodes = nodes;
  }

  /** Ends all of them for good and removes their folders. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}

/** Starts servers at the same time; if one of them fails, none of them stays. */
export async function startTogether(servers: readonly ServerProcess[]): Promise<void> {
  const outcomes = await Promise.allSettled(servers.map((server) => server.start()));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (!failed) return;
  await Promise.all(servers.map((server) => server.stop()));
  throw failed.reason;
}
