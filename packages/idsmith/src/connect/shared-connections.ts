import { OpenObjects } from '../support/open-objects.js';

const CONNECTIONS = Symbol.for('idsmith.connections');

/** The object that `connect` gives, as far as this file needs it. */
interface Closable {
  readonly isClosed: boolean;
}

/** A connection that is open or is being opened. */
interface Connection {
  object: Closable | undefined;
  readonly opening: Promise<Closable>;
}

/** The shared connections of this process, by URL. In the realm, because hot reload evaluates this module again. */
function connections(): OpenObjects<Connection> {
  const realm = globalThis as { [CONNECTIONS]?: OpenObjects<Connection> };
  realm[CONNECTIONS] ??= new OpenObjects<Connection>({
    kind: 'the shared connection',
    // A URL may have a password.
    shownName: (url) => `${url.slice(0, url.indexOf(':'))}:…`,
    otherwise: 'close it first',
    isOpen: ({ object }) => object?.isClosed !== true,
  });
  return realm[CONNECTIONS];
}

/**
 * The shared connection of a URL: always the same while it is open. An attempt that fails is forgotten.
 *
 * @throws InvalidOptionError when `label` differs from the one that the connection is open with
 */
export function sharedConnection<T extends Closable>(
  url: string,
  label: string | undefined,
  open: () => Promise<T>,
): Promise<T> {
  const { opening } = connections().get(url, { label }, () => {
    const connection: Connection = { object: undefined, opening: open() };
    connection.opening.then(
      (object) => {
        connection.object = object;
      },
      () => connections().delete(url, connection),
    );
    return connection;
  });
  return opening as Promise<T>;
}
