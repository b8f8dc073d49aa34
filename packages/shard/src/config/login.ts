/** The way to log in to one node. */
export interface NodeLogin {
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** `true`, or options of `tls.connect`. */
  readonly tls: boolean | Readonly<Record<string, unknown>>;
  readonly database: number;
  /** The Sentinels that know where the master of the node is. */
  readonly sentinel: SentinelSettings | undefined;
  /** Some nodes of a Redis Cluster, if the node is a whole cluster. */
  readonly cluster?: readonly NodeAddress[];
}

/** The address of a server. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** Sentinels, and the name of a master that they watch. */
export interface SentinelSettings {
  readonly master: string;
  readonly nodes: readonly NodeAddress[];
  readonly user: string | undefined;
  readonly password: string | undefined;
}
