import { warn } from '#runtime';
import { OneSuccess } from '../../support/single-flight.js';
import { type DriverError, reasonOf } from '../../support/store-error.js';
import { SqlLineage } from '../sql/lineage.js';
import type { Ask } from '../sql/session.js';
import { plainText } from '../sql/values.js';

// The lineage of MySQL is the server: after the promotion of a replica, another one answers. A dump that is restored into the same server is not
// noticed: see docs/lineage.md.

/** MySQL keeps the uuid beside its data, and replicas and backups have none of it. */
const MYSQL_SERVER = '@@server_uuid';

/** MariaDB has no such name. Its `server_uid` changes with the network card, so with each start of some containers. A session keeps the server_id that it began with. */
const MARIADB_SERVER = `CONCAT(@@global.server_id, ' ', @@hostname)`;

/** Variables of clusters whose servers all take writes at once. What one server has acknowledged, the others have. */
const CLUSTERS: readonly string[] = ['wsrep_on', 'group_replication_group_name'];

/** The variable that says when transactions are written to the disk. */
const FLUSH = 'innodb_flush_log_at_trx_commit';

/** The values with which a transaction is acknowledged before that, and whose crash loses it. MariaDB has a third that is safe, as 1 is. */
const LOSSES: Readonly<Record<string, string>> = { 0: 'the server', 2: 'its machine' };

/** The variable that says how many transactions the binary log may have before it is written to the disk; 0 for no limit. */
const SYNC_BINLOG = 'sync_binlog';

const VARIABLES = `SHOW VARIABLES WHERE Variable_name IN (${[
  'server_uuid',
  FLUSH,
  'log_bin',
  SYNC_BINLOG,
  ...CLUSTERS,
]
  .map((name) => `'${name}'`)
  .join(', ')})`;

/** ER_PARSE_ERROR, ER_UNKNOWN_ERROR, ER_TABLEACCESS_DENIED, ER_UNKNOWN_SYSTEM_VARIABLE, ER_SPECIFIC_ACCESS_DENIED, ER_NOT_SUPPORTED_YET */
const UNTOLD: readonly unknown[] = [1064, 1105, 1142, 1193, 1227, 1235];

/** The lineage of a store in MySQL or MariaDB: the same for all of its tables. */
export class MysqlLineage {
  readonly leases = new SqlLineage();
  readonly sequences = new SqlLineage();
  readonly #ask: Ask;
  readonly #isLossless: boolean;
  readonly #server = new OneSuccess<string | undefined>();

  /** @param isLossless true if promotions lose nothing and do not count */
  constructor(ask: Ask, isLossless: boolean) {
    this.#ask = ask;
    this.#isLossless = isLossless;
  }

  /** Learns how the server tells its lineage, and warns of a server that forgets in a crash. A server that tells nothing is no failure. */
  async learn(lineage: SqlLineage): Promise<void> {
    try {
      const server = await this.#server.run(() => this.#askServer());
      if (server !== undefined) lineage.told(server);
    } catch (error) {
      if (!UNTOLD.includes((error as DriverError).errno)) throw error;
      if (this.#isLossless) return;
      lineage.untold(
        `the server does not tell whether it has lost writes (${reasonOf(error)}). Where a failover loses nothing, set losslessFailover. ` +
          'See docs/lineage.md',
      );
    }
  }

  /** @returns `undefined` where promotions do not count, and for servers that are equals: the one that answers says nothing about a loss */
  async #askServer(): Promise<string | undefined> {
    const rows = await this.#ask(VARIABLES);
    const variables = new Map(
      rows.map((row) => Object.values(row as object).map(plainText) as [name: string, value: string]),
    );
    // What a server of a cluster loses in a crash, the others have.
    if (CLUSTERS.some((name) => !['OFF', '', undefined].includes(variables.get(name)))) return undefined;
    warnOfFlush(variables);
    if (this.#isLossless) return undefined;
    const server = variables.has('server_uuid') ? MYSQL_SERVER : MARIADB_SERVER;
    await this.#ask(`SELECT ${server} AS server`);
    return server;
  }
}

function warnOfFlush(variables: ReadonlyMap<string, string>): void {
  const [flush = '1', sync = '1'] = [FLUSH, SYNC_BINLOG].map((name) => variables.get(name));
  const crashed = LOSSES[flush];
  if (crashed !== undefined)
    warn(
      `the server has ${FLUSH} = ${flush}: a crash of ${crashed} loses the last second of writes, and ids that were given out in it can come ` +
        `again. Set ${FLUSH} = 1: see docs/stores.md`,
      'STORE_DELAYED_FLUSH',
    );
  // A commit is not written to the disk then: after a crash, a transaction counts as committed if the binary log has it.
  else if (flush === '1' && variables.get('log_bin') === 'ON' && sync !== '1')
    warn(
      `the server has log_bin = ON and ${SYNC_BINLOG} = ${sync}: after a crash of its machine, it undoes writes that the binary log has lost, and ` +
        `ids that were given out in them can come again. Set ${SYNC_BINLOG} = 1: see docs/stores.md`,
      'STORE_DELAYED_FLUSH',
    );
}
