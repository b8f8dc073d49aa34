import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { InvalidOptionError } from 'idsmith';
import type { Ids } from 'idsmith/connect';
import { requireKnown } from 'idsmith/internal';
import {
  openGenerators,
  type PluginConnection,
  type PluginGenerators,
  pluginIds,
  requireConnection,
  requireGenerators,
} from 'idsmith/internal/plugins';

/**
 * The types of `generators`, for `app.ids`. Add yours by declaration merging.
 *
 * @example
 * declare module '@idsmith/fastify' {
 *   interface IdGenerators {
 *     orders: FlakeGenerator;
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: programs add members.
export interface IdGenerators {}

declare module 'fastify' {
  interface FastifyInstance {
    /** Everything that makes ids, from `@idsmith/fastify`. */
    readonly ids: Ids & IdGenerators;
  }
}

/** Options of the plugin. Give either `store` or `ids`. */
export interface IdsmithOptions extends PluginConnection {
  /**
   * Generators, sequences and series by name, opened before the server listens: `app.ids.orders.next()`. Each is one method of `Ids` with its
   * options, or a function.
   *
   * @example
   * generators: { orders: { flakes: {} }, invoices: { sequence: { define: { start: 1 } } }, logs: (ids) => ids.uuid7('logs') }
   */
  readonly generators?: PluginGenerators | undefined;
  /**
   * Opens generators and sequences before the server listens. Its failure is the failure of `ready()` and `listen()`.
   *
   * @example
   * open: (ids) => Promise.all([ids.flakes('orders'), ids.sequence('invoices', { define: { start: 1 } })])
   */
  readonly open?: ((ids: Ids) => Promise<unknown>) | undefined;
  /** The path of a route for a readiness probe: 200 while `ids.status().ready`, otherwise 503. Without it, there is no route. */
  readonly readiness?: string | undefined;
}

const PLUGIN = '@idsmith/fastify';
const NAMES = ['store', 'ids', 'label', 'generators', 'open', 'readiness'];

/** Options that Fastify itself gives to every plugin. */
const OF_FASTIFY = ['prefix', 'logLevel', 'logSerializers'];

/**
 * A Fastify plugin: `fastify.ids`, opened before the server listens and closed after its last request.
 *
 * @throws InvalidOptionError when an option is wrong; other errors as `connect` and `open` throw. Nothing stays open then.
 *
 * @example
 * await app.register(idsmith, { store: 'sqlite:./ids.db', generators: { orders: { flakes: { as: 'string' } } }, readiness: '/readyz' });
 * app.post('/orders', async () => ({ id: app.ids.orders.next() }));
 */
export const idsmith: FastifyPluginAsync<IdsmithOptions> = forWholeServer(async (app, options) => {
  requireOptions(options);
  if (app.hasDecorator('ids')) refuse('fastify.ids is taken: register the plugin once');
  const [ids, close] = await pluginIds(options);
  // Fastify runs these hooks when no request is under way any more, so that every request can still mint.
  app.addHook('onClose', close);
  try {
    app.decorate('ids', ids as Ids & IdGenerators);
    if (options.readiness !== undefined) addReadiness(app, ids, options.readiness);
    await addGenerators(app, ids, options.generators ?? {});
    await options.open?.(ids);
  } catch (error) {
    // The error of `open` is the one to know about. A lease that cannot be released expires.
    await close().catch(() => undefined);
    throw error;
  }
});

/** Checks the options before anything is opened. */
function requireOptions(options: IdsmithOptions): void {
  const own = Object.entries(options).filter(([name]) => !OF_FASTIFY.includes(name));
  requireKnown(PLUGIN, Object.fromEntries(own), NAMES);
  requireConnection(PLUGIN, options);
  const { open, readiness } = options;
  requireGenerators(PLUGIN, options.generators);
  if (open !== undefined && typeof open !== 'function') refuse('open must be a function that takes ids');
  if (readiness !== undefined && (typeof readiness !== 'string' || !readiness.startsWith('/')))
    refuse(`readiness must be a path like "/readyz", not ${JSON.stringify(readiness)}`);
}

function refuse(problem: string): never {
  throw new InvalidOptionError(`${PLUGIN}: ${problem}`);
}

/** Opens the generators and makes each a property of `ids` while the server lives. */
async function addGenerators(app: FastifyInstance, ids: Ids, generators: PluginGenerators): Promise<void> {
  for (const name of Object.keys(generators))
    if (name in ids) refuse(`generators: ${JSON.stringify(name)} is a member of ids: choose another name`);
  for (const [name, value] of await openGenerators(ids, generators))
    Object.defineProperty(ids, name, { value, configurable: true, enumerable: true });
  app.addHook('onClose', async () => {
    for (const name of Object.keys(generators)) Reflect.deleteProperty(ids, name);
  });
}

function addReadiness(app: FastifyInstance, ids: Ids, path: string): void {
  app.get(path, { logLevel: 'warn' }, async (_request, reply) => {
    const { ready } = ids.status();
    reply.code(ready ? 200 : 503).header('cache-control', 'no-store');
    return { ready };
  });
}

/** Lets a plugin add to the server that registers it, and names it in messages of Fastify. These symbols are Fastify's own. */
function forWholeServer<T extends object>(plugin: T): T {
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: PLUGIN,
    [Symbol.for('plugin-meta')]: { name: PLUGIN, fastify: '5.x' },
  });
}
