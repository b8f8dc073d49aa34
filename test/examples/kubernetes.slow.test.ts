import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startPostgres } from '#services';
import { endPrograms, example, Program } from './program.ts';

interface Replica {
  readonly program: Program;
  readonly url: string;
}

await describeWith(['postgres'], 'The example of a service with three replicas', () => {
  let database: ServerProcess;
  let admin: pg.Client;
  let replicas: Replica[];

  async function start(): Promise<Replica> {
    const env = { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', LEASE_TTL: '10000' };
    const program = new Program(example('kubernetes/service.mjs'), { env });
    const url = (await program.line()).replace('listening at ', '');
    return { program, url };
  }
  const isReady = async ({ url }: Replica) => (await fetch(`${url}/readyz`)).status === 200;
  async function order({ url }: Replica): Promise<string> {
    const response = await fetch(`${url}/orders`, { method: 'POST' });
    expect(response.status).toBe(201);
    return ((await response.json()) as { id: string }).id;
  }
  async function count(condition: string): Promise<number> {
    const sql = `SELECT 1 FROM idsmith_leases WHERE namespace = 'jflake' AND id >= 0 AND owner IS NOT NULL AND ${condition}`;
    const { rowCount } = await admin.query(sql);
    return rowCount ?? 0;
  }
  const held = () => count('true');
  /** How many leases have run out because nobody has renewed them. */
  const expired = () => count('expires_at < extract(epoch FROM clock_timestamp()) * 1000');

  beforeAll(async () => {
    database = await startPostgres();
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    replicas = await Promise.all([start(), start(), start()]);
  });
  afterAll(async () => {
    await endPrograms();
    await admin?.end();
    await database?.stop();
  });

  it('becomes ready by itself, and gives every order another id', async () => {
    for (const replica of replicas) await expect.poll(() => isReady(replica)).toBe(true);
    expect(await held()).toBe(3);
    const ids = await Promise.all(
      replicas.flatMap((replica) => Array.from({ length: 50 }, () => order(replica))),
    );
    expect(new Set(ids).size).toBe(150);
    const [first, second] = replicas as [Replica, Replica];
    const found = await (await fetch(`${second.url}/orders/${ids[0]}`)).json();
    expect(found).toEqual({ id: ids[0], body: {} });
    expect((await fetch(`${first.url}/livez`)).status).toBe(200);
  });

  it('is replaced one by one: a replica that ends gives its node id back at once', async () => {
    const [old] = replicas.splice(0, 1) as [Replica];
    const next = await start();
    await expect.poll(() => isReady(next)).toBe(true);
    expect(await held()).toBe(4);
    expect(await old.program.end('SIGTERM')).toBe(0);
    expect(await held()).toBe(3);
    replicas.push(next);
  });

  it('recovers after a pause longer than its lease, and repeats nothing', async () => {
    const [paused, other] = replicas as [Replica, Replica];
    const ids = [await order(paused)];
    paused.program.child.kill('SIGSTOP');
    await expect.poll(expired).toBe(1);
    ids.push(await order(other));
    paused.program.child.kill('SIGCONT');
    ids.push(await order(paused), await order(paused));
    await expect.poll(() => isReady(paused)).toBe(true);
    expect(new Set(ids).size).toBe(4);
  });
});
