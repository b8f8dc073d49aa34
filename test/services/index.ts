/** Private servers for tests: started as child processes on free ports, gone without a trace afterwards. */
export { programsOf, type ServiceName } from './binaries.ts';
export { describeAt } from './describe-at.ts';
export { describeWith } from './describe-with.ts';
export { startDynalite } from './dynalite.ts';
export { Etcd, type EtcdOptions, startEtcd } from './etcd.ts';
export { FakeTime } from './fake-time.ts';
export { type Galera, startGalera } from './galera.ts';
export { ServerGroup } from './group.ts';
export { type MariadbOptions, startMariadb } from './mariadb.ts';
export { type PgbouncerOptions, startPgbouncer } from './pgbouncer.ts';
export { type PostgresOptions, postgresTool, startPostgres } from './postgres.ts';
export { ServerProcess } from './process.ts';
export { type RedisOptions, RedisServer, startRedis } from './redis.ts';
export { RedisCluster, type RedisClusterOptions, startRedisCluster } from './redis-cluster.ts';
export { RedisSentinels, startRedisSentinels } from './redis-sentinel.ts';
export { shared } from './shared.ts';
export { initialised, SHARED_STORES, STORE_SERVERS, type StoreServer } from './store-servers.ts';
