import { bytesToHex, InvalidOptionError, md5, refuse } from 'idsmith/internal';
import type { ShardNode } from '../config/shard-nodes.js';
import { ShardMap } from '../map/shard-map.js';
import { ClusterConnection } from './cluster-connection.js';
import { NodeConnection } from './node-connection.js';

/** The old owner and the new owner of a key that moves. */
export interface OwnerChange {
  readonly source: NodeConnection;
  readonly target: NodeConnection;
}

/** The two maps of a resharding and connections to their nodes. The same address is the same server. */
export class ReshardContext {
  readonly from: ShardMap<unknown>;
  readonly to: ShardMap<unknown>;
  /** The fingerprints of the two maps, with a hyphen between: of their ring names in order, with their weights. */
  readonly reshardId: string;
  /** The same for people. */
  readonly description: string;
  /** The nodes of the old map by address. */
  readonly sources: ReadonlyMap<string, NodeConnection>;
  /** The nodes of the new map by address. */
  readonly targets: ReadonlyMap<string, NodeConnection>;
  /** The addresses of nodes that are lost for good. Nobody asks them any more. */
  readonly gone = new Set<string>();
  /** True if keys go back from `from` to `to`. */
  readonly isReversed: boolean;

  /**
   * @param isReversed true if keys go back from `from` to `to`
   * @throws InvalidOptionError when keys cannot be moved from one map to the other
   */
  constructor(from: ShardMap<unknown>, to: ShardMap<unknown>, isReversed = false) {
    this.isReversed = isReversed;
    this.from = requireMap('from', from);
    this.to = requireMap('to', to);
    requireRing(isReversed ? this.to : this.from);
    requireHashTags(isReversed ? this.from : this.to);
    if (this.from === this.to) throw new InvalidOptionError('from and to must be two different maps');
    if (this.from.seqname !== this.to.seqname)
      throw new InvalidOptionError(
        `seqname must stay ${this.from.seqname}, not become ${this.to.seqname}: keys would repeat`,
      );
    refuseMovedServers(this.from.nodes, this.to.nodes);
    const [epoch, next] = [this.from, this.to].map((map) => map.sequences[0]?.nodeSet.epoch);
    if (epoch !== next)
      throw new InvalidOptionError(`epoch must stay ${epoch}, not become ${next}: keys would repeat`);
    const [before, after] = [fingerprintOf(this.from), fingerprintOf(this.to)];
    if (before === after)
      throw new InvalidOptionError(
        'from and to have the same nodes in the same order and with the same weights: no key would move. Use the config of the ' +
          'present map for from, and the next one for to',
      );
    refuseNeedlessTakeOver(this.from, this.to);
    this.reshardId = `${before}-${after}`;
    this.description = `${describe(this.from.nodes)} → ${describe(this.to.nodes)}`;
    const ids = idsOf(isReversed ? [this.to, this.from] : [this.from, this.to]);
    this.sources = connectionsOf(this.from, ids);
    this.targets = connectionsOf(this.to, ids);
  }

  /** All nodes of both maps that are not gone, each once. */
  get nodes(): NodeConnection[] {
    const all = new Map([...this.targets, ...this.sources]);
    return [...all.values()].filter(({ address }) => !this.gone.has(address));
  }

  /** The identities of nodes that are lost for good, as they are stored on the others. */
  get goneIds(): string[] {
    const all = [...this.sources.values(), ...this.targets.values()];
    return [...new Set(all.filter(({ address }) => this.gone.has(address)).map(({ id }) => id))];
  }

  /** Notes that nodes with these identities are lost for good. */
  addGone(ids: readonly string[]): void {
    for (const { id, address } of [...this.sources.values(), ...this.targets.values()])
      if (ids.includes(id)) this.gone.add(address);
  }

  /** The same resharding with the two maps exchanged, for keys that go back. */
  reversed(): ReshardContext {
    const { reshardId, description, gone } = this;
    return Object.assign(new ReshardContext(this.to, this.from, true), { reshardId, description, gone });
  }

  /** The nodes that keys leave, without those that are gone. */
  get givingNodes(): NodeConnection[] {
    return [...this.sources.values()].filter(({ address }) => !this.gone.has(address));
  }

  /** The old and the new owner of keys with this stem; `undefined` if they are the same node. */
  ownerChangeOf(stem: string): OwnerChange | undefined {
    const [source, target] = [this.from.ownerOf(stem).address, this.to.ownerOf(stem).address];
    return source === target ? undefined : this.ownerChange(source, target);
  }

  /** The change from one node to another, both by address. */
  ownerChange(source: string, target: string): OwnerChange {
    return {
      source: this.sources.get(source) as NodeConnection,
      target: this.targets.get(target) as NodeConnection,
    };
  }
}

function requireMap(option: string, map: ShardMap<unknown>): ShardMap<unknown> {
  if (!(map instanceof ShardMap)) refuse(option, 'a ShardMap', map);
  return map as ShardMap<unknown>;
}

function requireRing({ isCluster }: ShardMap<unknown>): void {
  if (isCluster)
    throw new InvalidOptionError(
      'from must have shards: a Redis Cluster moves keys between its nodes itself, and keys do not leave a cluster',
    );
}

function requireHashTags({ isCluster, hasHashTags }: ShardMap<unknown>): void {
  if (isCluster && !hasHashTags)
    throw new InvalidOptionError(
      'to must have hashTags: true beside its cluster: keys with a suffix, like K-part, are called {K}-part there, in the slot of K',
    );
}

/** Minting stays where it is, so a map that waits for it would never mint. */
function refuseNeedlessTakeOver(from: ShardMap<unknown>, to: ShardMap<unknown>): void {
  const [old, next] = [from.sequences[0]?.nodeSet, to.sequences[0]?.nodeSet];
  if (next?.takesOver && !old?.takesOver && old?.fingerprint === next.fingerprint)
    throw new InvalidOptionError(
      'takesOver must be left out of to: it has the nodes of from in the same order, and minting stays with them',
    );
}

/** Two servers with one ring name would mint the same keys: to the ring they are one node. */
function refuseMovedServers(from: readonly ShardNode[], to: readonly ShardNode[]): void {
  for (const node of to) {
    const old = from.find(({ ringName }) => ringName === node.ringName);
    if (old !== undefined && old.address !== node.address)
      throw new InvalidOptionError(
        `shards.${node.name} is ${old.address} in from and ${node.address} in to, and the ringName is ${node.ringName} in both: ` +
          'use the present address in both configs. Resharding moves keys between nodes, and not a node to another address',
      );
  }
}

function fingerprintOf(map: ShardMap<unknown>): string {
  const weights = map.nodes.map(({ ringName, weight }) => [ringName, weight]);
  return bytesToHex(md5(new TextEncoder().encode(JSON.stringify(weights))));
}

/**
 * The identities of all servers by address: their names on the ring. A server may have another name on the new ring. The name on
 * the old one is its identity then.
 */
function idsOf(maps: readonly [old: ShardMap<unknown>, next: ShardMap<unknown>]): Map<string, string> {
  const ids = new Map<string, string>();
  for (const { nodes } of maps)
    for (const { address, ringName } of nodes) if (!ids.has(address)) ids.set(address, ringName);
  return ids;
}

function connectionsOf(
  map: ShardMap<unknown>,
  ids: ReadonlyMap<string, string>,
): Map<string, NodeConnection> {
  const Connection = map.isCluster ? ClusterConnection : NodeConnection;
  const connect = (node: ShardNode) => new Connection(map, node, ids.get(node.address) as string);
  return new Map(map.nodes.map((node) => [node.address, connect(node)]));
}

function describe(nodes: readonly ShardNode[]): string {
  const text = nodes
    .map(({ ringName, weight }) => (weight === 1 ? ringName : `${ringName} × ${weight}`))
    .join(', ');
  return text.length > 200 ? `${text.slice(0, 197)}...` : text;
}
