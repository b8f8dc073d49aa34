// The order of the site. Every page of docs/ is in it: the build fails on one that is missing.

const page = (text, name) => ({ text, link: `/${name}` });

export const sidebar = [
  {
    text: 'Begin',
    items: [
      page('Home', ''),
      page('Which id?', 'which-id'),
      page('Playground', 'playground'),
      page('connect(): one object for all', 'connect'),
      page('Recipes', 'recipes'),
      page('Questions', 'faq'),
      page('Compared with others', 'comparison'),
      page('Glossary', 'glossary'),
    ],
  },
  {
    text: 'Tutorials',
    items: [
      page('All tutorials', 'tutorials/overview'),
      page('Orders with Drizzle', 'tutorials/orders'),
      page('Invoices without gaps', 'tutorials/invoices'),
      page('Moving off auto-increment', 'migration/auto-increment'),
      page('A Worker with a Durable Object', 'tutorials/worker'),
      page('Sharded keys to a Cluster', 'tutorials/cluster'),
    ],
  },
  {
    text: 'Families',
    items: [
      page('Flakes', 'flakes'),
      page('UUIDv7', 'uuid7'),
      page('Typed ids', 'typeid'),
      page('Locality UUIDs', 'locality'),
      page('Sequences', 'sequences'),
      page('Native sequences', 'native-sequences'),
      page('Series', 'series'),
      page('Sharded keys', 'keys'),
      page('Operating sharded keys', 'keys-operating'),
      page('Resharding', 'resharding'),
      page('Resharding when nodes fail', 'resharding-faults'),
      page('Resharding to a Redis Cluster', 'resharding-cluster'),
      page('Public ids', 'public'),
      page('Reading ids', 'inspect'),
    ],
  },
  {
    text: 'Where ids come from',
    items: [
      page('Leases', 'leases'),
      page('Stores', 'stores'),
      page('SQLite as a store', 'sqlite'),
      page('Redis as a store', 'redis'),
      page('A store of your own', 'own-store'),
      page('Server', 'server'),
      page('Server: routes and metrics', 'server-reference'),
      page('Console', 'console'),
      page('Command line', 'cli'),
      page('Ids as column defaults', 'column-defaults'),
      page('Bigint ids in JSON', 'json'),
      page('ORMs and drivers', 'orms'),
    ],
  },
  {
    text: 'Running it',
    items: [
      page('When a store goes back', 'lineage'),
      page('Operating', 'operating'),
      page('Kubernetes', 'kubernetes'),
      page('Workers and the edge', 'workers'),
      page('Scale', 'scale'),
      page('Security', 'security'),
      page('Errors', 'errors'),
    ],
  },
  {
    text: 'Coming from elsewhere',
    items: [
      page('Overview', 'migration/overview'),
      page('Auto-increment', 'migration/auto-increment'),
      page('UUIDv4', 'migration/uuid4'),
      page('Snowflake packages', 'migration/snowflake'),
      page('Hibernate', 'migration/hibernate'),
      page('CosId and Leaf', 'migration/cosid-and-leaf'),
      page('JFlake', 'migration/jflake'),
      page('Locality', 'migration/locality'),
      page('TopCoder', 'migration/topcoder'),
      page('Shardjs', 'migration/shardjs'),
      page('Code written for Shardjs', 'shardjs'),
    ],
  },
  {
    text: 'Reasons to trust it',
    items: [
      page('How it is proved', 'proof'),
      page('Sharded keys: the proofs', 'keys-proof'),
      page('Try your own store', 'verify'),
      page('How fast', 'speed'),
      page('All benchmarks', 'benchmarks'),
      page('Changes', 'changelog'),
    ],
  },
  { text: 'Reference', items: [page('API reference', 'api/')] },
];

/** The names of the pages in their order. */
export const order = sidebar.flatMap(({ items }) =>
  items.map(({ text, link }) => ({ text, name: link.slice(1) })),
);
