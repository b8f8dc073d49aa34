// Takes ids from the same sequence as Invoices.java, and prints them.

import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { oracleStore } from '@idsmith/oracle';
import { connect } from 'idsmith/connect';

/** Takes that many ids. What is left of the last block goes back, if Java has not taken a block since. */
export async function takeInvoices(pool, count) {
  const ids = await connect(oracleStore(pool));
  const invoices = await ids.sequence('invoices'); // the row that Java uses: its block size counts for both
  const taken = await invoices.batch(count);
  await ids.close();
  return taken;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { default: oracledb } = await import('oracledb');
  const { ORACLE_USER: user, ORACLE_PASSWORD: password, ORACLE_CONNECT: connectString } = process.env;
  const pool = await oracledb.createPool({ user, password, connectString });
  for (const id of await takeInvoices(pool, Number(process.argv[2] ?? 10))) console.log(String(id));
  await pool.close();
}
