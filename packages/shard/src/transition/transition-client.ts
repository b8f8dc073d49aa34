import { InvalidOptionError } from 'idsmith/internal';
import { stemOf } from '../keys/codec.js';
import { taggedArguments } from '../map/tagged-client.js';
import type { OwnerChange } from '../reshard/context.js';
import { keysInArguments, kindOf, requireKeyless, requireRoutable } from './client-methods.js';
import type { CommandRouter } from './command-router.js';

type Method = (...args: unknown[]) => unknown;

/** The way from the client of a node to the object that has the methods: the client itself, or one with other settings. */
type Derive = (client: unknown) => object;

/** Methods for listeners that do not return the client. */
const LISTENER_LISTS = /^(listeners|listenerCount|eventNames|getMaxListeners)$/;

/** The part of a `CommandRouter` that is used here. */
export type Router = Pick<CommandRouter, 'send'>;

/**
 * A client for a key that moves, and for keys with the same stem. Each command goes to the owner that the keys among its
 * arguments have in the present phase. The client shows nothing that would lead to one of the two nodes alone: other methods
 * are refused by name.
 *
 * @param present gives the client of the present owner, whose methods and properties the client has
 */
export function transitionClient(
  router: Router,
  key: string,
  change: OwnerChange,
  present: () => object,
  derive: Derive = (client) => client as object,
): object {
  const stem = stemOf(key);
  const send = (keys: readonly string[], use: (client: object) => unknown) =>
    router.send(change, keys, (client) => use(derive(client)));

  /** Calls a method of the right client. `path` has the name of the method, after that of its module if there is one. */
  const call = (path: readonly string[], args: readonly unknown[]) => {
    const name = path.join('.');
    requireRoutable(name, args);
    const keys = keysInArguments(stem, args);
    if (keys.length === 0) requireKeyless(name, args, stem);
    // Refuses commands that the cluster could not take later on.
    if (change.target.isCluster) requireClusterCommand(name, args, stem);
    return callWith(args, (given) =>
      send(keys.length === 0 ? [key] : keys, (client) => callPath(client, path, given)),
    );
  };

  const proxy: object = new Proxy(derive(present()), {
    get(_, property) {
      // Nothing with a symbol is a command, and some of them end the client.
      if (typeof property !== 'string') return undefined;
      const client = derive(present());
      const value = Reflect.get(client, property, client);
      const kind = kindOf(property, value);
      if (kind === 'property') return value;
      if (kind === 'listener')
        return (...args: unknown[]) => {
          const result = Reflect.apply(value as Method, client, args);
          return LISTENER_LISTS.test(property) ? result : proxy;
        };
      if (kind === 'stream') return (...args: unknown[]) => Reflect.apply(value as Method, proxy, args);
      if (kind === 'list')
        return (...args: unknown[]) => commandList({ stem, send, callWith }, property, args);
      if (kind === 'deriving')
        return (...args: unknown[]) =>
          transitionClient(
            router,
            key,
            change,
            present,
            (client) => callPath(derive(client), [property], args) as object,
          );
      if (kind === 'module')
        return moduleOf(value as object, (method, args) => call([property, method], args));
      return kind === 'command' ? (...args: unknown[]) => call([property], args) : undefined;
    },
    set(_, property) {
      throw new InvalidOptionError(`${String(property)} must not be set on a client while keys are moved`);
    },
  });
  return proxy;
}

/** @throws InvalidOptionError naming a command that a client of a cluster does not take, or takes in another form */
function requireClusterCommand(name: string, args: readonly unknown[], stem: string): void {
  if (name === 'sendCommand')
    throw new InvalidOptionError(
      'sendCommand must not be used while keys are moved to a Redis Cluster: it has other arguments there. Use the method of the command',
    );
  taggedArguments(name, args, stem);
}

/** The commands of a module. */
function moduleOf(module: object, call: (method: string, args: readonly unknown[]) => unknown): object {
  return new Proxy(
    {},
    {
      get: (_, method) =>
        typeof method === 'string' && typeof Reflect.get(module, method) === 'function'
          ? (...args: unknown[]) => call(method, args)
          : undefined,
    },
  );
}

/** Calls the method at the end of a path, like `['json', 'get']`. */
function callPath(client: object, path: readonly string[], args: readonly unknown[]): unknown {
  const owner = path.slice(0, -1).reduce((object, name) => Reflect.get(object, name) as object, client);
  const method = path.at(-1) as string;
  if (typeof Reflect.get(owner, method) !== 'function')
    throw new InvalidOptionError(
      `${path.join('.')} is no method of the client of the node that has the key now`,
    );
  return (owner as Record<string, Method>)[method]?.(...args);
}

/** Calls `send` with the arguments. A callback among them also gets the error if the command could not be sent. */
function callWith(args: readonly unknown[], send: (args: readonly unknown[]) => unknown): unknown {
  const callback = args.at(-1);
  if (typeof callback !== 'function') return send(args);
  let isCalled = false;
  const callOnce = (...answer: unknown[]) => {
    isCalled = true;
    return callback(...answer);
  };
  const answer = send([...args.slice(0, -1), callOnce]);
  Promise.resolve(answer).catch((error) => {
    if (!isCalled) callback(error);
  });
  return answer;
}

/** Methods that send the list. */
const SENDS = /^exec/i;

/** The client that a list of commands belongs to. */
interface ListClient {
  readonly stem: string;
  send(keys: readonly string[], use: (client: object) => unknown): unknown;
  callWith(args: readonly unknown[], send: (args: readonly unknown[]) => unknown): unknown;
}

/**
 * A list of commands: gathers the commands, and sends them together after their keys have been moved.
 *
 * @param kind the method that begins the list: `multi` or `pipeline`
 * @param args the arguments of that method
 */
function commandList(client: ListClient, kind: string, args: readonly unknown[]): object {
  if (args.some((arg) => (arg as { pipeline?: unknown } | undefined)?.pipeline === false))
    throw new InvalidOptionError(
      'multi({ pipeline: false }) must not be used while keys are moved: leave the option out',
    );
  for (const command of args.filter(Array.isArray).flat())
    if (Array.isArray(command)) requireQueueable(String(command[0]), command.slice(1));
  const calls: [method: string, args: unknown[]][] = [];
  const send = (owner: object, method: string, last: readonly unknown[]) => {
    let list = (owner as Record<string, Method>)[kind]?.(...args) as Record<string, Method>;
    for (const [name, given] of calls) list = (list[name]?.(...given) ?? list) as typeof list;
    return list[method]?.(...last);
  };
  const list: object = new Proxy(
    {},
    {
      get(_, property) {
        // Without a method `then`, the list is not mistaken for a promise.
        if (typeof property !== 'string' || property === 'then') return undefined;
        if (property === 'length') return calls.length;
        return (...given: unknown[]) => {
          if (!SENDS.test(property)) {
            requireQueueable(property, given);
            calls.push([property, given]);
            return list;
          }
          const keys = keysInArguments(client.stem, [...args, ...calls.flatMap(([, words]) => words)]);
          if (keys.length === 0) keys.push(client.stem);
          return client.callWith(given, (last) => client.send(keys, (owner) => send(owner, property, last)));
        };
      },
    },
  );
  return list;
}

/** Commands that block do not block in a list, so they may be there. */
function requireQueueable(method: string, args: readonly unknown[]): void {
  if (!/^(b[lr]pop|brpoplpush|bl?move|bl?mpop|bzm?pop|xread)/i.test(method)) requireRoutable(method, args);
}
