import { InvalidOptionError, StoreError, show } from 'idsmith/internal';

/** A sequence or synonym as users name it. A name without an owner is looked up by Oracle's rules. */
export interface OracleName {
  readonly owner: string | undefined;
  readonly name: string;
}

/** A sequence in Oracle's dictionary: exact names, which must be quoted. */
export type OracleSequence = OracleName & { readonly owner: string };

/** Runs a query and gives its rows, each with its columns in order. */
export type OracleQuery = (sql: string, binds: string[]) => Promise<unknown[][]>;

/** The longest chain of synonyms. Oracle itself refuses circles. */
const MAX_SYNONYMS = 16;

const SCHEMA = `SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AS current_schema FROM dual`;

// A sequence and a private synonym of one schema cannot have the same name.
const LOOK_UP = `SELECT 'SEQUENCE' AS kind, sequence_owner AS owner, sequence_name AS name, NULL AS link
    FROM all_sequences WHERE sequence_owner = :1 AND sequence_name = :2
  UNION ALL SELECT 'SYNONYM', table_owner, table_name, db_link FROM all_synonyms WHERE owner = :3 AND synonym_name = :4`;

/**
 * The parts of a name that needs no quotes, in upper case, as Oracle keeps such names.
 *
 * @throws InvalidOptionError when the name needs quotes
 */
export function parseOracleName(sequenceName: string): OracleName {
  const identifier = '[A-Za-z][\\w$#]{0,127}';
  const [, owner, name] = new RegExp(`^(?:(${identifier})\\.)?(${identifier})$`).exec(sequenceName) ?? [];
  if (name === undefined)
    throw new InvalidOptionError(
      `sequenceName must be a plain Oracle name, with or without its schema, not ${show(sequenceName)}: ` +
        'for one that needs quotes give the statement as sql',
    );
  return { owner: owner?.toUpperCase(), name: name.toUpperCase() };
}

/**
 * The sequence that a name stands for, by the rules of Oracle: in the schema that is named, or else in the current schema and
 * then among public synonyms; through synonyms to the sequence itself. `undefined` if there is none.
 *
 * @throws InvalidOptionError when the sequence is in another database
 * @throws StoreError when synonyms lead nowhere
 */
export async function findOracleSequence(
  query: OracleQuery,
  { owner, name }: OracleName,
): Promise<OracleSequence | undefined> {
  let places = owner === undefined ? [await currentSchema(query), 'PUBLIC'] : [owner];
  let wanted = name;
  for (let hops = 0; hops <= MAX_SYNONYMS; hops++) {
    const entry = await lookUp(query, places, wanted);
    if (entry === undefined) return undefined;
    if (entry.link !== undefined)
      throw new InvalidOptionError(
        `sequenceName: ${show(name)} is a synonym for a sequence behind the database link ${show(entry.link)}, whose ` +
          `increment cannot be read from here: connect to that database, or use optimizer "none"`,
      );
    if (entry.isSequence) return { owner: entry.owner, name: entry.name };
    places = [entry.owner];
    wanted = entry.name;
  }
  throw new StoreError(
    `sequence ${show(name)} is behind more than ${MAX_SYNONYMS} synonyms: name the sequence itself`,
  );
}

/** A line of the dictionary: a sequence, or what a synonym stands for. */
interface Entry extends OracleSequence {
  readonly isSequence: boolean;
  readonly link: string | undefined;
}

async function lookUp(
  query: OracleQuery,
  places: readonly string[],
  wanted: string,
): Promise<Entry | undefined> {
  for (const place of places) {
    const [row] = await query(LOOK_UP, [place, wanted, place, wanted]);
    if (row === undefined) continue;
    const [kind, owner, name, link] = row;
    return {
      isSequence: kind === 'SEQUENCE',
      owner: String(owner),
      name: String(name),
      link: link === null || link === undefined ? undefined : String(link),
    };
  }
  return undefined;
}

async function currentSchema(query: OracleQuery): Promise<string> {
  const [row] = await query(SCHEMA, []);
  return String(row?.[0]);
}
