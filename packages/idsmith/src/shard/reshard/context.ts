import { bytesToHex } from '../../encoding/hex.js';
import { md5 } from '../../encoding/md5.js';
import { InvalidOptionError } from '../../errors.js';
import { refuse } from '../../options.js';
import type { ShardNode } from '../config.js';
import { ShardMap } from '../shard-map.js';
import { Wire } from './node-connection.js';

/** Where a key is to be: its old owner and its new one. */
export interface Route {
  readonly source: Wire;
  readonly target: Wire;
}

/** The two maps of a resharding and their nodes, by name: the same `host:port` is the same node. */
export class Parties {
  readonly from: ShardMap<unknown>;
  readonly to: ShardMap<unknown>;
  /** Fingerprint of both rings with their weights. */
  readonly move: string;
  /** The same for people. */
  readonly about: string;
  readonly sources: ReadonlyMap<string, Wire>;
  readonly targets: ReadonlyMap<string, Wire>;

  /** @throws InvalidOptionError when keys cannot be moved from the one to the other */
  constructor(from: ShardMap<unknown>, to: ShardMap<unknown>) {
    this.from = requireMap('from', from);
    this.to = requireMap('to', to);
    if (this.from === this.to) throw new InvalidOptionError('from and to must be two maps');
    if (this.from.seqname !== this.to.seqname)
      throw new InvalidOptionError(
        `seqname must stay ${this.from.seqname}, not become ${this.to.seqname}: keys would repeat`,
      );
    const [old, next] = [placementOf(this.from), placementOf(this.to)];
    this.move = bytesToHex(md5(new TextEncoder().encode(JSON.stringify([old, next]))));
    this.about = `${describe(this.from.nodes)} → ${describe(this.to.nodes)}`;
    this.sources = wiresOf(this.from);
    this.targets = wiresOf(this.to);
  }

  /** Every node once. */
  get all(): Wire[] {
    return [...new Map([...this.targets, ...this.sources]).values()];
  }

  /** Old and new owner of a key of this stem; `undefined` if they are the same. */
  routeOf(stem: string): Route | undefined {
    const [source, target] = [this.from.ownerOf(stem).name, this.to.ownerOf(stem).name];
    return source === target ? undefined : this.route(source, target);
  }

  route(source: string, target: string): Route {
    return { source: this.sources.get(source) as Wire, target: this.targets.get(target) as Wire };
  }
}

function requireMap(option: string, map: ShardMap<unknown>): ShardMap<unknown> {
  if (!(map instanceof ShardMap)) refuse(option, 'a ShardMap', map);
  if (map.nodes[0]?.port === 0)
    throw new InvalidOptionError(
      `${option} must have shards: a Redis Cluster moves keys between its nodes itself`,
    );
  return map as ShardMap<unknown>;
}

const placementOf = (map: ShardMap<unknown>) => map.nodes.map(({ name, weight }) => [name, weight]);

function wiresOf(map: ShardMap<unknown>): Map<string, Wire> {
  return new Map(map.nodes.map((node) => [node.name, new Wire(map, node)]));
}

function describe(nodes: readonly ShardNode[]): string {
  const text = nodes.map(({ name, weight }) => (weight === 1 ? name : `${name} × ${weight}`)).join(', ');
  return text.length > 200 ? `${text.slice(0, 197)}...` : text;
}
