import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { InvalidOptionError } from 'idsmith';
import type { Ids } from 'idsmith/connect';
import { requireKnown } from 'idsmith/internal';
import { type PluginConnection, pluginIds, requireConnection } from 'idsmith/internal/plugins';

declare module 'fastify' {
  interface FastifyInstance {
    /** Everything that makes ids, from `@idsmith/fastify`. */
    readonly ids: Ids;
  }
}

/** Options of the plugin. Give either `store` or `ids`. */
export interface IdsmithOptions extends PluginConnection {
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
const NAMES = ['store', 'ids', 'label', 'open', 'readiness'];

/** Options that Fastify itself gives to every plugin. */
const OF_FASTIFY = ['prefix', 'logLevel', 'logSerializers'];

/**
 * A Fastify plugin: `fastify.ids`, opened before the server listens and closed after its last request.
 *
 * @throws InvalidOptionError when an option is wrong; other errors as `connect` and `open` throw. Nothing stays open then.
 *
 * @example
 * await app.register(idsmith, { store: 'sqlite:./ids.db', open: (ids) => ids.flakes('orders'), readiness: '/readyz' });
 * app.post('/orders', async () => ({ id: String((await app.ids.flakes('orders')).next()) }));
 */
export const idsmith: FastifyPluginAsync<IdsmithOptions> = forWholeServer(async (app, options) => {
  requireOptions(options);
  if (app.hasDecorator('ids')) refuse('fastify.ids is taken: register the plugin once');
  const [ids, close] = await pluginIds(options);
  // Fastify runs these hooks when no request is under way any more, so that every request can still mint.
  app.addHook('onClose', close);
  try {
    app.decorate('ids', ids);
    if (options.readiness !== undefined) addReadiness(app, ids, options.readiness);
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
  if (open !== undefined && typeof open !== 'function') refuse('open must be a function that takes ids');
  if (readiness !== undefined && (typeof readiness !== 'string' || !readiness.startsWith('/')))
    refuse(`readiness must be a path like "/readyz", not ${JSON.stringify(readiness)}`);
}

function refuse(problem: string): never {
  throw new InvalidOptionError(`${PLUGIN}: ${problem}`);
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
