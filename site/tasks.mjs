// The reference by task: what a reader wants to do, the page that explains it, and the names to use. A name that no task has is listed
// at the end of the page.

const task = (title, page, about, names) => ({ title, page, about, names: names.split(/\s+/) });

export const tasks = [
  task(
    'Connect to a store',
    '/connect',
    'Begin here: one object with the generators and sequences of a store.',
    'connect Ids',
  ),
  task(
    'Make 64-bit ids that sort by time',
    '/flakes',
    'Flakes, also called Snowflake ids.',
    'FlakeGenerator leaseFlakes layouts defineLayout',
  ),
  task(
    'Make UUIDs',
    '/uuid7',
    'Version 7, in one call or with a generator of your own.',
    'uuid7 Uuid7Generator',
  ),
  task('Make ids that tell their kind', '/typeid', 'A prefix and a UUIDv7.', 'typeIds'),
  task(
    'Number things',
    '/sequences',
    'Sequences in blocks, numbers without gaps, printed series, and sequences of databases as sources.',
    'Sequences gapless series postgresSequence mariadbSequence oracleSequence',
  ),
  task('Show ids to the world outside', '/public', 'Encrypted, with a prefix and a check.', 'publicIds'),
  task('Read an id', '/inspect', 'Which kind it is, and what is in it.', 'inspect requireReadings'),
  task(
    'Validate ids in requests',
    '/public#validators',
    'Validators in the form of Standard Schema.',
    'flakeSchema sequenceSchema localitySchema uuid7Schema typeIdSchema keySchema',
  ),
  task('Spread UUIDs over shards', '/locality', 'Locality UUIDs.', 'LocalityGenerator LocalityUuid'),
  task(
    'Keep keys on a ring of Redis nodes',
    '/keys',
    'Sharded keys, and moving them to other nodes.',
    'ShardMap HashRing fixedKey shardNodesOf MAX_WEIGHT init planReshard reshard abortReshard TransitionMap',
  ),
  task(
    'Choose and open a store',
    '/stores',
    'A URL, or a client of yours.',
    `openStore openOracle memoryStore sqliteStore postgresStore mysqlStore redisStore dynamodbStore etcdStore httpStore libsqlStore d1Store
    durableObjectStore IdStoreObject oracleStore`,
  ),
  task(
    'Tell a store that it is new, or restored',
    '/lineage',
    'What an operator says after a loss.',
    'initStore markRestored',
  ),
  task('Hold a node id yourself', '/leases', 'The lease under every generator.', 'acquireLease Lease'),
  task(
    'Handle errors',
    '/errors',
    'Every error is an IdError with a stable code.',
    `IdError InvalidIdError InvalidOptionError ClockError LeasesExhaustedError LeaseFencedError NoSuchSequenceError
    SequenceExistsError SequenceExhaustedError UnsafeIntegerError StoreError StoreWentBackError TimeExhaustedError ClosedError`,
  ),
  task(
    'Test your own code, or a store of your own',
    '/stores#a-store-of-your-own',
    'Fake time, and the cases that every store must pass.',
    'FakeClock FakeTime systemClock leaseStoreCases sequenceStoreCases',
  ),
  task('Use an ORM or a driver', '/orms', 'What the SQL functions take.', 'sqlExecutor'),
];
