import { InvalidOptionError } from '../../../errors.js';
import { stemOf } from '../../keys/codec.js';
import type { OwnerChange } from '../context.js';
import type { CommandRouter } from './command-router.js';
import { keysInArguments } from './keys-in-arguments.js';

type Method = (...args: unknown[]) => unknown;

/** Methods that return a stream or iterator, and call other methods of the client for each part. */
const STREAMS = /(Stream|Iterator)$/;

/** Methods that begin a list of commands. */
const LISTS = new Set(['multi', 'pipeline', 'MULTI']);

/** Methods that send the list. */
const SENDS = /^exec/i;

/**
 * A client for a key that moves, and for keys with the same stem. It has all methods of the new owner's client. A command
 * with such keys among its arguments is sent after the keys have been moved. Other commands go to the new owner at once.
 */
export function transitionClient(
  router: CommandRouter,
  key: string,
  change: OwnerChange,
  target: object,
): object {
  const stem = stemOf(key);
  const proxy: object = new Proxy(target, {
    get(client, property) {
      const value = Reflect.get(client, property, client);
      if (typeof value !== 'function' || typeof property !== 'string') return value;
      const method = value as Method;
      if (LISTS.has(property))
        return (...args: unknown[]) => commandList(router, stem, change, property, args);
      if (STREAMS.test(property)) return (...args: unknown[]) => Reflect.apply(method, proxy, args);
      return (...args: unknown[]) => {
        const keys = keysInArguments(stem, args);
        if (keys.length === 0) return Reflect.apply(method, client, args);
        refuseBlocking(property, args);
        return callWith(args, (given) => router.send(change, keys, (to) => call(to, property, given)));
      };
    },
  });
  return proxy;
}

/** Commands that wait for a key to be written. They would hold up all other commands, and even the heartbeat of the process. */
const BLOCKING = /^(b[lr]pop|brpoplpush|bl?move|bl?mpop|bzpop(min|max)|bzmpop)(buffer)?$/;

function refuseBlocking(method: string, args: readonly unknown[]): void {
  const isAny = /^(call|callbuffer|sendcommand)$/i.test(method);
  const words = isAny ? args.flat() : [method, ...args];
  const name = String(words[0]).toLowerCase();
  const isBlocking = /^xread/.test(name)
    ? words.some((word) => /^block$/i.test(String(word)) || Object.hasOwn(Object(word), 'BLOCK'))
    : BLOCKING.test(name);
  if (isBlocking)
    throw new InvalidOptionError(
      `${name} must not block while keys are moved: it would hold up the resharding. Use it without blocking, in a loop`,
    );
}

function call(client: unknown, method: string, args: readonly unknown[]): unknown {
  return (client as Record<string, Method>)[method]?.(...args);
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

/** A list of commands: gathers the commands, and sends them together after their keys have been moved. */
function commandList(
  router: CommandRouter,
  stem: string,
  change: OwnerChange,
  kind: string,
  args: readonly unknown[],
): object {
  if (args.some((arg) => (arg as { pipeline?: unknown } | undefined)?.pipeline === false))
    throw new InvalidOptionError(
      'multi({ pipeline: false }) must not be used while keys are moved: leave the option out',
    );
  const calls: [method: string, args: unknown[]][] = [];
  const send = (client: unknown, method: string, last: readonly unknown[]) => {
    let list = call(client, kind, args) as Record<string, Method>;
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
            calls.push([property, given]);
            return list;
          }
          const keys = keysInArguments(stem, [...args, ...calls.flatMap(([, words]) => words)]);
          if (keys.length === 0) keys.push(stem);
          return callWith(given, (last) =>
            router.send(change, keys, (client) => send(client, property, last)),
          );
        };
      },
    },
  );
  return list;
}
