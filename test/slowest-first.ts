import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the slowest first. Begun last, each would keep one core busy while the other waits. */
const SLOWEST = [
  'idsmith/test/cli/verify/healthy',
  'idsmith/test/stores/http/store',
  'idsmith/test/shard/reshard/faults-under-load',
  'idsmith/test/stores/redis/cluster',
  'console/test/pages/leases',
  'idsmith/test/lease/model',
  'test/chaos/redis',
  'idsmith/test/shard/mint/minter',
  'idsmith/test/shard/mint/outdated-config',
  'idsmith/test/lease/storms',
  'idsmith/test/cli/seq',
  'test/docs',
  'idsmith/test/cli/verify/ends',
  'test/upgrade/schema',
  'test/chaos/databases',
  'test/package-types',
  'idsmith/test/shard/reshard/to-cluster',
  'idsmith/test/shard/reshard/to-cluster-load',
  'test/package-bundle',
  'console/test/shell/server-away',
  'console/test/accessibility',
  'idsmith/test/stores/dynamodb/leases',
  'test/chaos/dynamodb',
  'idsmith/test/stores/etcd/leases',
  'idsmith/test/shard/mint/dead-nodes',
  'test/upgrade/upgrade',
  'idsmith/test/cli/reshard',
  'idsmith/test/stores/redis/leases',
  'idsmith/test/stores/postgres/sequences',
  'idsmith/test/stores/etcd/sequences',
  'idsmith/test/stores/postgres/pgbouncer',
  'idsmith/test/cli/cli',
  'idsmith/test/shard/nodes/drivers',
  'idsmith/test/cli/verify/planted',
  'server/test/rolling-restart',
  'idsmith/test/stores/redis/sequences',
  'idsmith/test/shard/mint/lost-generation',
  'test/soak/soak',
  'server/test/cli/serve',
  'console/test/shell/unreachable-banner',
  'idsmith/test/shard/reshard/crashed-nodes',
  'idsmith/test/stores/http/retry',
  'server/test/http/memory-use',
  'test/services/services',
  'idsmith/test/stores/mysql/sequences',
  'idsmith/test/shard/reshard/kill-under-load',
  'console/test/pages/many-sequences',
  'idsmith/test/cli/reshard-cluster',
  'test/examples/kubernetes',
  'server/test/cli/token',
].map((name) => `/${name}.test.ts`);

const placeOf = ({ moduleId }: TestSpecification) => {
  const place = SLOWEST.findIndex((name) => moduleId.endsWith(name));
  return place === -1 ? SLOWEST.length : place;
};

/** Begins with the slowest files, and leaves the others in the order of vitest. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}
