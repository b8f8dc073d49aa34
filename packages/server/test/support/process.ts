import { fileURLToPath } from 'node:url';
import { ServerProcess } from '#services';
import { startTogether } from '#services/group.ts';
import { makeFolder } from '#services/guard.ts';
import { withFreePorts } from '#services/ports.ts';

/** The command as users run it. */
const bin = fileURLToPath(new URL('../../../idsmith/bin/idsmith.js', import.meta.url));

/** Starts `idsmith serve` with these flags, as a process of its own and in a folder of its own. */
export function startIdsmith(...flags: string[]): Promise<ServerProcess> {
  return startIdsmithWith({}, ...flags);
}

/** Starts `idsmith serve` with these environment variables and flags. */
export function startIdsmithWith(env: Record<string, string>, ...flags: string[]): Promise<ServerProcess> {
  return withFreePorts(1, async ([port]) => {
    const url = `http://127.0.0.1:${port}`;
    const server = new ServerProcess({
      name: 'idsmith',
      dir: makeFolder('idsmith'),
      ports: [port],
      url,
      env,
      run: [process.execPath, bin, 'serve', '--port', String(port), ...flags],
      answers: async () => (await fetch(`${url}/healthz`)).ok,
    });
    await startTogether([server]);
    return server;
  });
}

/** The value of a metric with these labels; 0 if it is missing. */
export async function metricOf(url: string, series: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}
