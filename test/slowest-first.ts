import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the slowest first. Begun last, each would keep one core busy while the other waits. */
const SLOWEST = [
  'idsmith/test/cli/verify/healthy',
  'idsmith/test/lease/model',
  'test/package-types',
  'test/chaos/databases',
  'test/chaos/redis',
  'test/chaos/dynamodb',
  'test/upgrade/schema',
  'idsmith/test/shard/reshard/faults-under-load',
  'idsmith/test/lease/storms',
  'idsmith/test/cli/verify/planted',
  'test/docs',
  'idsmith/test/stores/redis/cluster',
  'idsmith/test/shard/reshard/reshard-failures',
  'console/test/accessibility',
  'idsmith/test/shard/mint/outdated-config',
  'idsmith/test/cli/seq',
  'test/package-bundle',
  'idsmith/test/shard/reshard/to-cluster',
  'idsmith/test/stores/http/store',
  'idsmith/test/shard/nodes/drivers',
  'idsmith/test/stores/etcd/leases',
  'test/soak/soak',
  'test/migration',
  'idsmith/test/locality/threads',
  'idsmith/test/cli/verify/ends',
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
