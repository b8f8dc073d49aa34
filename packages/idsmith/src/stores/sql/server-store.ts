import { sequenceStore } from '../../sequence/rows.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { SchemaGate, type SchemaMarker } from '../schema-version.js';
import type { DisposableStore } from '../store.js';
import type { Columns } from './columns.js';
import type { Dialect } from './dialect.js';
import { sqlLeases } from './leases.js';
import { type SqlLineage, withWarnings } from './lineage.js';
import { sqlRows } from './sequences.js';
import type { Ask, ServerSession, serverOptions } from './session.js';
import { columnsOf } from './table.js';

/** The differences between database servers in how a store is set up. */
interface Server {
  readonly kind: 'postgres' | 'mysql';
  readonly dialect: Dialect;
  marker(ask: Ask): SchemaMarker;
  createLeaseTable(ask: Ask, mark: () => Promise<void>): Promise<void>;
  setUpSequenceTable(ask: Ask, columns: Columns, mark: () => Promise<void>): Promise<void>;
  /** Tells whether sequences have a past: the user may use its table. */
  setUpPasts(ask: Ask, lineage: SqlLineage): Promise<boolean>;
  /** @param isLossless true if promotions lose nothing and do not count */
  lineage(ask: Ask, isLossless: boolean): ServerLineage;
}

/** The lineage of the tables of a store. */
interface ServerLineage {
  readonly leases: SqlLineage;
  readonly sequences: SqlLineage;
  /** Learns how the server tells the lineage of a table. A server that does not is no failure. */
  learn(lineage: SqlLineage, table: string): Promise<void>;
}

/** A store on a database server. Its tables are made at their first use. */
export function serverStore(
  server: Server,
  session: ServerSession,
  { isLossless, maxJump }: ReturnType<typeof serverOptions>,
  own: OwnClient | undefined,
): DisposableStore {
  const { kind, dialect } = server;
  const ask: Ask = (text, values) => session.ask(text, values);
  const schema = new SchemaGate(kind, server.marker(ask));
  const admit = () => schema.admit();
  const mark = () => schema.mark();
  const columns = columnsOf(dialect);
  const lineage = server.lineage(ask, isLossless);
  const leases = session.statements(async () => {
    await admit();
    await server.createLeaseTable(ask, mark);
    await lineage.learn(lineage.leases, 'idsmith_leases');
  });
  const sequences = session.statements(async () => {
    await admit();
    await server.setUpSequenceTable(ask, columns, mark);
    if (await server.setUpPasts(ask, lineage.sequences))
      await lineage.learn(lineage.sequences, 'id_sequences');
  });
  const rows = sqlRows(dialect, { run: sequences, columns, lineage: lineage.sequences, maxJump });
  const alone = session.runner(admit);
  const sql = session.access(admit);
  return makeStore(
    kind,
    {
      ...sqlLeases(dialect, leases, lineage.leases),
      ...withWarnings(sequenceStore(rows), lineage),
      schemaVersion: () => alone('schemaVersion', admit),
      durable: true,
      ...(sql && { sql }),
    },
    own,
  );
}
