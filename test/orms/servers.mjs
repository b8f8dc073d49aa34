import { startMariadb, startPostgres } from '../services/index.ts';

/** Starts the servers that all tests share, and tells the tests their URLs. */
export default async function setup({ provide }) {
  const [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()]);
  provide('postgres', postgres.url);
  provide('mariadb', mariadb.url);
  return () => Promise.all([postgres.stop(), mariadb.stop()]);
}
