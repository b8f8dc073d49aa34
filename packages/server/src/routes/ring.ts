import type { NodeStatus } from '@idsmith/shard';
import type { Route, Schema } from '../http/route.js';
import { record } from '../http/schemas.js';
import type { KeyMinter } from '../mint/key-minter.js';

const text: Schema = { type: 'string' };
const integer: Schema = { type: 'integer' };
const number: Schema = { type: 'number' };
const orNull = (schema: Schema, description: string): Schema => ({
  anyOf: [schema, { type: 'null' }],
  description,
});

const node: Schema = {
  title: 'Shard',
  ...record({
    name: { ...text, description: 'the name in the config' },
    ringName: { ...text, description: 'the name that places the node on the ring' },
    address: text,
    weight: integer,
    error: orNull(text, 'why the node does not answer; null if it does'),
    latency: orNull(number, 'the time that its answer took, ms'),
    clockAhead: orNull(integer, 'its clock minus the clock of this server, ms'),
    keys: orNull(integer, 'Redis keys on the node; null where nobody may count them'),
    minting: orNull(
      { type: 'string', enum: ['open', 'idle', 'reserved', 'closed', 'foreign'] },
      'open: it mints for this config; closed or foreign: it mints for another one',
    ),
  }),
};

const resharding: Schema = {
  title: 'Resharding',
  ...record({
    phase: { type: 'string', enum: ['preparing', 'moving', 'done', 'stopping', 'returning', 'aborted'] },
    about: { ...text, description: 'the old nodes and the new ones' },
    progress: orNull(
      record({
        moved: { ...integer, description: 'keys moved by the last run' },
        scanned: { ...integer, description: 'keys looked at' },
        total: { ...integer, description: 'keys to look at, approximately' },
        rate: { ...number, description: 'keys a second' },
        left: orNull(number, 'seconds left, approximately'),
        age: { ...integer, description: 'ms since the run said so' },
      }),
      'null before the first batch',
    ),
  }),
};

/** The shards of the server: their health, and a resharding that they take part in. */
export function ringRoutes(keys: KeyMinter): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/ring',
      summary: "The server's shards: health, clocks, keys, and a running resharding",
      scope: 'any',
      response: record({
        file: orNull(text, 'the name of the config; null without --shards'),
        isCluster: { type: 'boolean', description: 'true for a Redis Cluster, which is one node' },
        nodes: { type: 'array', items: node },
        resharding: orNull(resharding, 'the last resharding that a node knows of; null for none'),
      }),
      problems: [503],
      waitsForStore: true,
      async handle() {
        const states = await keys.status();
        return {
          file: keys.file,
          isCluster: keys.isCluster,
          nodes: states.map(nodeJson),
          resharding: reshardingJson(states),
        };
      },
    },
  ];
}

function nodeJson(state: NodeStatus) {
  const { name, ringName, address, weight } = state.node;
  const about = { name, ringName, address, weight };
  if (state.error !== undefined)
    return {
      ...about,
      error: state.error.message,
      ...{ latency: null, clockAhead: null, keys: null, minting: null },
    };
  const { latency, clockAhead, keys = null, minting } = state;
  return { ...about, error: null, latency: Math.round(latency * 10) / 10, clockAhead, keys, minting };
}

const RUNNING: readonly string[] = ['moving', 'returning', 'stopping', 'preparing'];

/** The resharding of the nodes: one that is not over before one that is, and the latest note of its progress. */
function reshardingJson(states: readonly NodeStatus[]) {
  const told = states.flatMap((state) => (state.error === undefined && state.resharding) || []);
  const running = told.filter(({ phase }) => RUNNING.includes(phase));
  const [latest] = (running.length > 0 ? running : told).sort(
    (a, b) => (a.progress?.age ?? Number.MAX_VALUE) - (b.progress?.age ?? Number.MAX_VALUE),
  );
  if (latest === undefined) return null;
  const { phase, about, progress } = latest;
  if (progress === undefined) return { phase, about, progress: null };
  const { moved, scanned, total, rate, left = null, age } = progress;
  return { phase, about, progress: { moved, scanned, total, rate, left, age } };
}
