import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, programsOf, type ServerProcess, startMariadb } from '#services';
import type { OracleStorePool } from '../../packages/oracle/src/client.ts';
import { oracleModePool } from '../../packages/oracle/test/support/oracle-mode.ts';
import { example } from './program.ts';

interface Example {
  takeInvoices(pool: OracleStorePool, count: number): Promise<bigint[]>;
}

await describeWith(['mariadb', 'jdk', 'mariadb-jdbc'], 'The example of Java and Node on one sequence', () => {
  let server: ServerProcess;
  let pool: ReturnType<typeof oracleModePool>;

  beforeAll(async () => {
    server = await startMariadb();
    pool = oracleModePool(server.url);
    const connection = await createConnection({ uri: server.url, multipleStatements: true });
    await connection.query(`SET sql_mode = 'ORACLE,STRICT_ALL_TABLES'`);
    await connection.query(readFileSync(example('oracle-java/schema.sql'), 'utf8'));
    await connection.end();
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  async function inJava(count: number): Promise<bigint[]> {
    const [, java] = await programsOf('jdk');
    const [jar] = await programsOf('mariadb-jdbc');
    const args = ['-cp', jar, example('oracle-java/Invoices.java'), String(count)];
    const env = { ...process.env, JDBC_URL: `jdbc:mariadb://127.0.0.1:${server.port}/test?user=root` };
    const { stdout } = await promisify(execFile)(java as string, args, { env });
    return stdout.trim().split('\n').map(BigInt);
  }

  it('gives no number twice, from the first on, and none below the start', async () => {
    const { takeInvoices } = (await import(example('oracle-java/invoices.mjs'))) as Example;
    const node = async () => {
      const numbers: bigint[] = [];
      for (let i = 0; i < 6; i++) numbers.push(...(await takeInvoices(pool, 33)));
      return numbers;
    };
    // Node has changed the table before Java comes, as in a shop that begins with Node today.
    const early = await takeInvoices(pool, 5);
    expect(early).toEqual([10_000n, 10_001n, 10_002n, 10_003n, 10_004n]);
    const [fromJava, fromNode, again] = await Promise.all([inJava(200), node(), inJava(100)]);
    const all = [...early, ...fromJava, ...fromNode, ...again];
    expect(all).toHaveLength(5 + 200 + 198 + 100);
    expect(new Set(all).size).toBe(all.length);
    expect(all.every((number) => number >= 10_000n)).toBe(true);
  });
});
