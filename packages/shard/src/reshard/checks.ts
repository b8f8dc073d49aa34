import { InvalidOptionError, StoreError, show } from 'idsmith/internal';
import { nextGeneration } from '../mint/next-generation.js';
import { askNodes, requireAnswers } from '../mint/node-sequence.js';
import { PROBE_COMMANDS, PROBE_DUMP, PROBE_RESTORE, PROBE_SERVER } from '../redis/scripts.js';
import { type CommonPhase, commonPhaseOf, findBehind } from './compare-states.js';
import type { ReshardContext } from './context.js';
import { KeyPlacement, KeyRule } from './key-placement.js';
import { type NodeConnection, scanKeys } from './node-connection.js';
import { goneTargetError, keySettingsText, type PlanOptions, readKeySettings } from './options.js';
import { isGivenUpError, readCheckedStates } from './phase.js';
import { INCOMING_KEY, PROBE_KEY, type RedisKey, redisKeyText, STATE_KEY } from './redis-keys.js';

// The checks before a resharding or an abort. None of them changes anything.

/** The result of the checks before a resharding. */
export interface PreparedReshard {
  readonly phase: CommonPhase;
  readonly placement: KeyPlacement;
  /** The settings to keep on the nodes, as JSON. */
  readonly settings: string;
  /** The persistence of the nodes by address; empty if nobody has to wait for it. */
  readonly persistence: ReadonlyMap<string, Persistence>;
  readonly minting: EarlyMinting;
}

/**
 * Makes all checks before a resharding. Nothing is changed.
 *
 * @param acceptOlder names of nodes that may have come back with older data
 * @throws InvalidOptionError naming an option that is wrong
 * @throws StoreError naming the node that keeps the resharding from its beginning
 */
export async function prepareReshard(
  context: ReshardContext,
  options: PlanOptions,
  acceptOlder: readonly string[] = [],
): Promise<PreparedReshard> {
  await requirePermissions(context);
  const states = await readCheckedStates(context, acceptOlder);
  const phase = commonPhaseOf(states);
  if (phase === 'stopping') throw isGivenUpError(context);
  for (const address of context.gone)
    if (context.targets.has(address)) throw goneTargetError(context, address);
  // A finished resharding may be run again with other settings, for keys that were left alone.
  const stored = phase === 'moving' ? states.find(({ settings }) => settings !== '')?.settings : '';
  const settings = readKeySettings(context, options, stored);
  const { acceptVolatileTarget, acceptEvictingTarget, acceptNoAbort } = settings;
  const persistence = await requireTargetsDurable(context, acceptVolatileTarget);
  if (!acceptEvictingTarget) await requireTargetsKeepKeys(context);
  await requireDistinctServers(context);
  await requireReadableValues(context, acceptNoAbort);
  const minting = await requireOwnMinting(context, acceptOlder);
  const placement = new KeyPlacement(context, await KeyRule.make(context, settings));
  // While keys are moved, a value that the old and the new owner have is the work of this resharding. So it is after the end, if the
  // old owner came back with older data.
  const behind = phase === 'done' ? findBehind(states).map(({ address }) => address) : [];
  const older = new Set(behind.filter((address) => acceptOlder.includes(address)));
  if (phase !== 'moving') await requireTargetsEmpty(context, placement, older);
  return {
    phase,
    placement,
    settings: keySettingsText(settings),
    persistence: acceptVolatileTarget ? new Map() : persistence,
    minting,
  };
}

const PROBING = 'telling nodes apart';

/**
 * Checks that no two nodes are the same server under two names, like `localhost:6379` and `127.0.0.1:6379`. Moving a key from
 * one name to the other would delete the key.
 *
 * @throws InvalidOptionError naming both nodes
 */
export async function requireDistinctServers({ nodes }: ReshardContext): Promise<void> {
  const field = `probe:${crypto.randomUUID()}`;
  try {
    for (const node of nodes) {
      const [name] = await node.run(PROBING, PROBE_SERVER, [STATE_KEY], [field, node.address]);
      if (String(name) !== node.address)
        throw new InvalidOptionError(
          `shards: ${node.address} and ${String(name)} are the same server: use the same host and port in both configs`,
        );
    }
  } finally {
    await Promise.allSettled(nodes.map((node) => node.command(PROBING, 'HDEL', STATE_KEY, field)));
  }
}

const TRYING_COMMANDS = 'trying the commands that resharding needs';

/**
 * Checks that the server knows every command that resharding needs, and that the user may run it, before anything is changed.
 *
 * @throws StoreError naming the node and the commands
 */
export async function requirePermissions({ nodes }: ReshardContext): Promise<void> {
  await Promise.all(nodes.map(requireCommands));
}

async function requireCommands(node: NodeConnection): Promise<void> {
  // The next step finds out whether a node that does not answer is needed.
  const inScripts = await node
    .run(TRYING_COMMANDS, PROBE_COMMANDS, [STATE_KEY, PROBE_KEY])
    .catch(() => undefined);
  if (inScripts === undefined) return;
  const [refused, unknown] = inScripts.map((names) => new Set((names as unknown[]).map(String)));
  for (const command of [
    ['SCAN', '0', 'COUNT', 1],
    ['DBSIZE'],
    ['EXISTS', PROBE_KEY],
    ['HKEYS', PROBE_KEY],
    ['HEXISTS', PROBE_KEY, ''],
    ['HMGET', PROBE_KEY, ''],
    ['HDEL', PROBE_KEY, ''],
    ['CLIENT', 'ID'],
  ] as const)
    await node.command(TRYING_COMMANDS, ...command).catch((error) => {
      const name = command[0] === 'CLIENT' ? command.join('|') : command[0];
      if (/NOPERM/.test((error as Error).message)) refused?.add(name);
      if (/unknown (sub)?command/i.test((error as Error).message)) unknown?.add(name);
    });
  if (unknown !== undefined && unknown.size > 0)
    throw new StoreError(
      `node ${node.address}: the server does not know ${[...unknown].join(', ')}, which resharding needs. Nothing was changed. Start the ` +
        'server without a rename-command for it, with Redis 5 or later, and try again',
    );
  if (refused !== undefined && refused.size > 0)
    throw new StoreError(
      `node ${node.address}: the Redis user is not allowed to run ${[...refused].join(', ')}, which resharding needs. Nothing was ` +
        'changed. Give the user these commands (ACL SETUSER), and try again',
    );
}

/** The data of a node that survives a crash of the node. */
export interface Persistence {
  /** Writes go to an append-only file. */
  readonly hasAof: boolean;
  /** Replicas that are connected and in step. */
  readonly replicas: number;
  /** Nothing survives a crash: no append-only file, no replica, no snapshots. False if the node does not tell. */
  readonly keepsNothing: boolean;
  /** The server can wait until writes are on disk: `WAITAOF`, Redis 7.2 and later, unless `appendfsync` is `no`. */
  readonly canWaitForDisk: boolean;
}

/**
 * Checks that keys are not moved to a node that loses them in a crash from a node that would have kept them.
 *
 * @param acceptVolatile true to move keys to such nodes anyway
 * @returns the persistence of the new nodes by name
 * @throws StoreError naming a new node that keeps less than an old one
 */
export async function requireTargetsDurable(
  context: ReshardContext,
  acceptVolatile: boolean,
): Promise<ReadonlyMap<string, Persistence>> {
  const { sources, targets, gone } = context;
  const all = new Map([...sources, ...targets]);
  const read = [...all.values()]
    .filter(({ address }) => !gone.has(address))
    .map(async (node) => [node.address, await readPersistence(node)] as const);
  const persistence = new Map(await Promise.all(read));
  for (const address of targets.keys()) {
    const target = persistence.get(address);
    if (acceptVolatile || target === undefined || target.hasAof || target.replicas > 0) continue;
    const better = [...sources.keys()].find(
      (source) => source !== address && persistence.get(source)?.keepsNothing === false,
    );
    if (better !== undefined)
      throw new StoreError(
        `node ${address} has neither an append-only file nor a replica: keys that node ${better} keeps would be lost if node ${address} ` +
          'crashed. Nothing was changed. Set appendonly yes there, or connect a replica, and try again. Or accept the risk with ' +
          'acceptVolatileTarget (--accept-volatile-target)',
      );
  }
  return persistence;
}

const ASKING_PERSISTENCE = 'asking about persistence';

/** Asks a node what survives a crash. A cluster is as safe as the least safe of its masters. */
export async function readPersistence(node: NodeConnection): Promise<Persistence> {
  const all = await Promise.all((await node.servers()).map(readServer));
  return {
    hasAof: all.every(({ hasAof }) => hasAof),
    replicas: Math.min(...all.map(({ replicas }) => replicas)),
    keepsNothing: all.some(({ keepsNothing }) => keepsNothing),
    canWaitForDisk: all.every(({ canWaitForDisk }) => canWaitForDisk),
  };
}

async function readServer(node: NodeConnection): Promise<Persistence> {
  const [persistence, replication, server, save, appendfsync] = await Promise.all([
    infoOf(node, ASKING_PERSISTENCE, 'persistence'),
    infoOf(node, ASKING_PERSISTENCE, 'replication'),
    infoOf(node, ASKING_PERSISTENCE, 'server'),
    settingOf(node, 'save'),
    settingOf(node, 'appendfsync'),
  ]);
  const hasAof = persistence.get('aof_enabled') === '1';
  const replicas = [...replication].filter(
    ([name, value]) => /^slave\d+$/.test(name) && /\bstate=online\b/.test(value),
  ).length;
  const [major = 0, minor = 0] = (server.get('redis_version') ?? '').split('.').map(Number);
  return {
    hasAof,
    replicas,
    keepsNothing: !hasAof && replicas === 0 && save === '',
    canWaitForDisk: (major > 7 || (major === 7 && minor >= 2)) && appendfsync !== 'no',
  };
}

/** A setting of a node. `undefined` if the node does not tell, as managed servers do not. */
async function settingOf(node: NodeConnection, name: string): Promise<string | undefined> {
  try {
    const reply = await node.command(ASKING_PERSISTENCE, 'CONFIG', 'GET', name);
    // Pairs come as a list, or as an object where the driver speaks RESP3.
    const pairs = Array.isArray(reply) ? reply.flat() : Object.entries(Object(reply)).flat();
    return pairs[1] === undefined ? undefined : String(pairs[1]);
  } catch {
    return undefined;
  }
}

/** A section of INFO. */
async function infoOf(
  node: NodeConnection,
  operation: string,
  section: string,
): Promise<Map<string, string>> {
  const text = String(await node.command(operation, 'INFO', section));
  return new Map(
    text
      .split(/\r?\n/)
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}

/**
 * Checks that no new owner removes keys when it is full: it would remove keys whose originals are deleted.
 *
 * @throws StoreError naming a new owner that does, and its policy
 */
async function requireTargetsKeepKeys({ targets }: ReshardContext): Promise<void> {
  await Promise.all(
    [...targets.values()].map(async (target) => {
      for (const server of await target.servers()) {
        const memory = await infoOf(server, 'asking about eviction', 'memory');
        const policy = memory.get('maxmemory_policy') ?? '';
        // Without a limit, a server is never full. While keys move, every PUT looks again.
        if (policy !== 'noeviction' && memory.get('maxmemory') !== '0')
          throw evictingError(target.address, policy, 'Nothing was changed');
      }
    }),
  );
}

/** The error for a new owner that removes keys when it is full. */
export function evictingError(address: string, policy: string, outcome: string): StoreError {
  return new StoreError(
    `node ${address} removes keys when it is full (maxmemory-policy ${policy || 'unknown'}): keys that are moved there could be lost. ` +
      `${outcome}. Set maxmemory-policy noeviction there, and run it again. Or accept the loss of keys with acceptEvictingTarget ` +
      '(--accept-evicting-target)',
  );
}

const TRYING_VALUES = 'trying DUMP and RESTORE';

/**
 * Checks that nodes read what others write, with a key that is there for a moment: new owners what old owners write, and the other
 * way round for a resharding that is aborted. Servers refuse the values of later versions.
 *
 * @param acceptNoAbort true to leave out the way back
 * @throws StoreError naming the two nodes
 */
async function requireReadableValues(context: ReshardContext, acceptNoAbort: boolean): Promise<void> {
  const { givingNodes } = context;
  const targets = [...context.targets.values()];
  await requireReadable(
    givingNodes,
    targets,
    'keys could not be moved. Nothing was changed. Use servers for the new map whose version is not older, and try again',
  );
  if (acceptNoAbort) return;
  await requireReadable(
    targets,
    givingNodes,
    'a resharding that is aborted could not move its keys back. Nothing was changed. Use servers of the same version, or go on without ' +
      'abort with acceptNoAbort (--accept-no-abort)',
  );
}

/**
 * Checks before an abort that keys can go back.
 *
 * @param reversed the resharding in the direction of the move
 * @throws StoreError naming the two nodes
 */
export async function requireWayBack(reversed: ReshardContext): Promise<void> {
  await requireReadable(
    reversed.givingNodes,
    [...reversed.targets.values()],
    'keys could not be moved back. Nothing was changed. Run the resharding to its end, or start the node with a version that is not older',
  );
}

async function requireReadable(
  writers: readonly NodeConnection[],
  readers: readonly NodeConnection[],
  consequence: string,
): Promise<void> {
  // Servers of one version write the same bytes.
  const values = new Map<string, { readonly value: Uint8Array; readonly writer: NodeConnection }>();
  await Promise.all(
    writers.map(async (writer) => {
      for (const key of await writer.probeKeys()) {
        const [value] = await writer.run(TRYING_VALUES, PROBE_DUMP, [key]);
        values.set(String(value), { value: value as Uint8Array, writer });
      }
    }),
  );
  await Promise.all(
    readers.map(async (reader) => {
      for (const key of await reader.probeKeys())
        for (const { value, writer } of values.values()) {
          const [error] = await reader.run(TRYING_VALUES, PROBE_RESTORE, [key], [value]);
          if (String(error) === '') continue;
          const [own, other] = await Promise.all([versionOf(reader), versionOf(writer)]);
          throw new StoreError(
            `node ${reader.address} (${own}) cannot read the values that node ${writer.address} (${other}) writes (RESTORE: ` +
              `${String(error)}): ${consequence}`,
          );
        }
    }),
  );
}

async function versionOf(node: NodeConnection): Promise<string> {
  const [server] = await node.servers();
  const info = server && (await infoOf(server, TRYING_VALUES, 'server'));
  return `Redis ${info?.get('redis_version') ?? 'of an unknown version'}`;
}

/**
 * Checks that the new owners hold no values of keys that will move to them. Such values may be left over from an earlier time
 * in the map, and would be taken for newer ones. So a value that old and new owner have later on is the work of the move.
 *
 * @param older addresses of old owners whose values are known to be older than those of the new owners
 * @throws StoreError naming the node and one of the keys
 */
async function requireTargetsEmpty(
  context: ReshardContext,
  placement: KeyPlacement,
  older: ReadonlySet<string>,
): Promise<void> {
  await Promise.all(
    [...context.targets.values()].map((node) => requireNoOldKeys(node, context, placement, older)),
  );
}

async function requireNoOldKeys(
  node: NodeConnection,
  context: ReshardContext,
  placement: KeyPlacement,
  older: ReadonlySet<string>,
): Promise<void> {
  for await (const keys of scanKeys(node)) {
    const bySource = new Map<NodeConnection, RedisKey[]>();
    for (const key of keys) {
      const change = context.ownerChangeOf(placement.stemOf(key) ?? '');
      if (change?.target !== node || placement.stemOf(key) === undefined) continue;
      if (older.has(change.source.address)) continue;
      bySource.set(change.source, [...(bySource.get(change.source) ?? []), key]);
    }
    for (const [source, present] of bySource)
      for (const key of present)
        if ((await exists(source, key)) && !(await isIncoming(node, key)))
          throw new StoreError(
            `node ${node.address} already holds the key ${show(redisKeyText(key))}, which node ${source.address} holds, too. ` +
              'Nothing was changed. Find out which of the two values is the right one, give the other one another name (RENAME), ' +
              'and try again',
          );
  }
}

const CHECKING = 'looking for old keys';

async function exists(node: NodeConnection, key: RedisKey): Promise<boolean> {
  return Number(await node.command(CHECKING, 'EXISTS', key)) === 1;
}

/** Tells whether a mover that was interrupted has brought the key. */
async function isIncoming(node: NodeConnection, key: RedisKey): Promise<boolean> {
  return (await node.entriesOf(INCOMING_KEY, [key]))[0] !== null;
}

/** What processes with the new config did, or could do, before minting is handed over to its nodes. */
export interface EarlyMinting {
  /**
   * The addresses of new nodes that have minted by themselves. The old nodes may have minted the same keys. From the handover on, they
   * mint keys that nobody else has.
   */
  readonly mintedBefore: readonly string[];
  /**
   * True if processes with the new config could mint before the resharding: the two maps have no node in common, so the new nodes do not
   * know of the old ones. `takesOver: true` in the new config prevents that.
   */
  readonly mayMintEarly: boolean;
}

/**
 * Checks that the old nodes mint for the old map, or for the new one already, and that minting can be handed over. Changes nothing.
 *
 * @param acceptOlder addresses of nodes that may have lost their sequences
 * @throws InvalidOptionError naming a node that mints for other nodes, or with another `maxSkew`, or a new node that knows a later
 *   generation of minting than the old nodes
 */
async function requireOwnMinting(
  { from, to, gone }: ReshardContext,
  acceptOlder: readonly string[],
): Promise<EarlyMinting> {
  const [own, next] = [from.sequences[0]?.nodeSet, to.sequences[0]?.nodeSet];
  const sequences = from.sequences.filter(({ node }) => !gone.has(node.address));
  const answers = requireAnswers(await askNodes(sequences, (sequence) => sequence.readStatus()));
  for (const [{ node }, { whose, fingerprint, nodes }] of answers) {
    if (whose !== 'foreign' || own === undefined || fingerprint === next?.fingerprint) continue;
    throw new InvalidOptionError(
      nodes === own.nodes || nodes === next?.nodes
        ? `node ${node.address} mints keys for the same nodes with another maxSkew or epoch than from (maxSkew ${own.skew}, epoch ` +
            `${own.epoch}): keys could repeat. Use the same maxSkew and epoch as the processes that mint there`
        : `node ${node.address} mints keys for other nodes (${nodes}), not for ${own.nodes}: reshard from those nodes`,
    );
  }
  if (own === undefined || next === undefined || own.fingerprint === next.fingerprint)
    return { mintedBefore: [], mayMintEarly: false };
  const { hasBegun, mintedBefore } = await nextGeneration(sequences, to.sequences, acceptOlder);
  const isApart = !from.nodes.some(({ address }) => to.nodes.some((node) => node.address === address));
  return { mintedBefore, mayMintEarly: isApart && !hasBegun && !next.takesOver };
}
