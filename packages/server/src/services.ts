import { InvalidOptionError, type Store } from 'idsmith';
import { connect, type Ids } from 'idsmith/connect';
import { openStore } from 'idsmith/stores';
import { AcceptedTokens } from './auth/accepted-tokens.js';
import { secretSourceOf } from './auth/secrets.js';
import { tokenFileOf } from './auth/tokens.js';
import type { Settings } from './config/settings.js';
import { HistoryTable } from './history/history-table.js';
import { HistoryFile, type HistoryPlace, KeptHistory } from './history/kept-history.js';
import { LeaseWatch } from './history/lease-watch.js';
import { SequenceWatch } from './history/sequence-watch.js';
import { ServerHistory } from './history/server-history.js';
import { Connections } from './http/connections.js';
import { IdempotencyCache } from './http/idempotency-cache.js';
import { InFlightLimit } from './http/serve-route.js';
import { Namespaces } from './leases/namespaces.js';
import { KeyMinter } from './mint/key-minter.js';
import { LeasedMinter } from './mint/leased-minter.js';
import { PublicIdCodecs } from './mint/public-id-codecs.js';
import { SequencePool } from './mint/sequence-pool.js';
import { SeriesMinter } from './mint/series-minter.js';
import { TypeIdPrefixes } from './mint/type-id-prefixes.js';
import { Audit } from './ops/audit.js';
import { Health } from './ops/health.js';
import type { Log } from './ops/log.js';
import { Metrics } from './ops/metrics.js';
import { NamespaceUse } from './ops/namespace-use.js';
import { withMetrics } from './ops/with-metrics.js';

/** The parts of a running server. */
export interface Services {
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
  /** True if the server has opened the store, and closes it. */
  readonly ownsStore: boolean;
  readonly ids: Ids;
  readonly minter: LeasedMinter;
  readonly sequences: SequencePool;
  readonly series: SeriesMinter;
  readonly namespaces: Namespaces;
  readonly keys: KeyMinter;
  readonly publicIds: PublicIdCodecs;
  readonly typeIds: TypeIdPrefixes;
  readonly tokens: AcceptedTokens;
  readonly idempotency: IdempotencyCache;
  readonly inFlight: InFlightLimit;
  readonly connections: Connections;
  readonly health: Health;
  readonly audit: Audit;
  readonly history: ServerHistory;
  /** `undefined` if a restart may forget the history. */
  readonly keptHistory: KeptHistory | undefined;
  readonly watch: SequenceWatch;
  readonly leaseWatch: LeaseWatch;
}

/**
 * Makes the parts of a server. The store is opened, and nothing else is started.
 *
 * @param given a store that its caller closes, instead of the one that the settings name
 */
export async function makeServices(
  settings: Settings,
  log: Log,
  version: string,
  given?: Store,
): Promise<Services> {
  const metrics = new Metrics(version);
  const publicIds = new PublicIdCodecs(settings.publicIds);
  const typeIds = new TypeIdPrefixes(settings.typeIds);
  const keys = await KeyMinter.open(settings.shards, metrics, log);
  const inner = given ?? (await openStoreOf(settings));
  const store = withMetrics(inner, metrics);
  const ids = await connect(store);
  const minter = new LeasedMinter(ids, settings, metrics, log);
  const inFlight = new InFlightLimit(settings.maxInFlight);
  metrics.inFlight = () => inFlight.count;
  const sequences = new SequencePool(ids.sequences, metrics, log);
  // What instruments ask of the store is no load of clients, and is not counted.
  const watch = new SequenceWatch(inner, sequences.handedOut);
  const use = new NamespaceUse([settings.namespace || settings.layout, 'locality', 'uuid7']);
  const leaseWatch = new LeaseWatch(inner, use);
  const history = new ServerHistory(metrics, (now) => watch.tick(now));
  const parts = { server: history, sequences: watch, leases: leaseWatch };
  const place = historyPlace(settings, inner);
  return {
    settings,
    log,
    watch,
    leaseWatch,
    history,
    keptHistory: place && new KeptHistory(place, parts, log),
    metrics,
    store,
    ownsStore: given === undefined,
    ids,
    minter,
    keys,
    publicIds,
    typeIds,
    inFlight,
    sequences,
    series: new SeriesMinter(ids, metrics),
    namespaces: new Namespaces(inner, use, (namespace, records) =>
      leaseWatch.saw(namespace, records, Date.now()),
    ),
    tokens: new AcceptedTokens(
      tokenFileOf(settings.tokens),
      settings.rate,
      log,
      secretSourceOf(settings.secrets),
    ),
    idempotency: new IdempotencyCache(metrics),
    connections: new Connections(settings.maxConnections),
    audit: new Audit(log),
    health: new Health(store, () => minter.refusals, log),
  };
}

/** The place that keeps the history over restarts, if there is one. */
function historyPlace({ historyFile, historyStore }: Settings, { sql }: Store): HistoryPlace | undefined {
  if (historyFile !== '') return new HistoryFile(historyFile);
  return historyStore !== '' && sql ? new HistoryTable(sql, historyStore) : undefined;
}

async function openStoreOf({ store: url }: Settings): Promise<Store> {
  try {
    return await openStore(url);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (code !== 'INVALID_OPTION') throw error;
    throw new InvalidOptionError(`store: ${message}`, { cause: error });
  }
}
