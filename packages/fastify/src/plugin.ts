import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Store } from 'idsmith';
import { connect, type Ids } from 'idsmith/connect';
import { type IdsmithOptions, refuse, requireOptions } from './options.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Everything that makes ids, from `@idsmith/fastify`. */
    readonly ids: Ids;
  }
}

/**
 * A Fastify plugin: `fastify.ids`, opened before the server listens and closed after its last request.
 *
 * @throws InvalidOptionError when an option is wrong; other errors as `connect` and `open` throw. Nothing stays open then.
 *
 * @example
 * await app.register(idsmith, { store: 'sqlite:./ids.db', open: (ids) => ids.flakes('orders'), readiness: '/readyz' });
 * app.post('/orders', async () => ({ id: String((await app.ids.flakes('orders')).next()) }));
 */
export const idsmith: FastifyPluginAsync<IdsmithOptions> = forWholeServer(async (app, given) => {
  const { store, ids: theirs, label, open, readiness } = requireOptions(given);
  if (app.hasDecorator('ids')) refuse('fastify.ids is taken: register the plugin once');
  const ids = theirs ?? (await connect(store as string | Store, label === undefined ? {} : { label }));
  const close = async () => {
    if (ids !== theirs) await ids.close();
  };
  // Fastify runs these hooks when no request is under way any more, so that every request can still mint.
  app.addHook('onClose', close);
  try {
    app.decorate('ids', ids);
    if (readiness !== undefined) addReadiness(app, ids, readiness);
    await open?.(ids);
  } catch (error) {
    // The error of `open` is the one to know about. A lease that cannot be released expires.
    await close().catch(() => undefined);
    throw error;
  }
});

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
    [Symbol.for('fastify.display-name')]: '@idsmith/fastify',
    [Symbol.for('plugin-meta')]: { name: '@idsmith/fastify', fastify: '5.x' },
  });
}
