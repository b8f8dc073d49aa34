import { InvalidOptionError } from '../../../errors.js';
import { stemOf } from '../../keys/codec.js';
import type { Route } from '../context.js';
import type { Router } from './command-router.js';
import { mentioned } from './keys-in-arguments.js';

type Method = (...args: unknown[]) => unknown;

/** Methods that call others of the client for each part of what they give, and give it bit by bit. */
const IN_PARTS = /(Stream|Iterator)$/;

/** Methods that begin a list of commands to be sent at once. */
const LISTS = new Set(['multi', 'pipeline', 'MULTI']);

/** Methods that send such a list. */
const SENDS = /^exec/i;

/**
 * A client for a key, and keys with the same stem, that is on the way to another node. It has all methods of the client of
 * the new owner. Those that mention such keys are sent when the keys have been moved; others go to the new owner.
 */
export function transitClient(router: Router, key: string, route: Route, target: object): object {
  const stem = stemOf(key);
  const proxy: object = new Proxy(target, {
    get(client, property) {
      const value = Reflect.get(client, property, client);
      if (typeof value !== 'function' || typeof property !== 'string') return value;
      const method = value as Method;
      if (LISTS.has(property))
        return (...args: unknown[]) => commandList(router, stem, route, property, args);
      if (IN_PARTS.test(property)) return (...args: unknown[]) => Reflect.apply(method, proxy, args);
      return (...args: unknown[]) => {
        const keys = mentioned(stem, args);
        if (keys.length === 0) return Reflect.apply(method, client, args);
        refuseBlocking(property, args);
        return sent(args, (given) => router.send(route, keys, (to) => call(to, property, given)));
      };
    },
  });
  return proxy;
}

/** Commands that wait for a key to be written, and let nothing else pass meanwhile, not even what keeps this process known. */
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
      `${name} must not be used while keys are moved: it would hold up the moving. Ask again and again instead`,
    );
}

function call(client: unknown, method: string, args: readonly unknown[]): unknown {
  return (client as Record<string, Method>)[method]?.(...args);
}

/** Sends with these arguments. A callback among them learns, too, that the command could not be sent. */
function sent(args: readonly unknown[], send: (args: readonly unknown[]) => unknown): unknown {
  const callback = args.at(-1);
  if (typeof callback !== 'function') return send(args);
  let isTold = false;
  const telling = (...answer: unknown[]) => {
    isTold = true;
    return callback(...answer);
  };
  const answer = send([...args.slice(0, -1), telling]);
  Promise.resolve(answer).catch((error) => {
    if (!isTold) callback(error);
  });
  return answer;
}

/** Commands that are gathered, and sent together to the node that has all their keys by then. */
function commandList(
  router: Router,
  stem: string,
  route: Route,
  kind: string,
  args: readonly unknown[],
): object {
  if (args.some((arg) => (arg as { pipeline?: unknown } | undefined)?.pipeline === false))
    throw new InvalidOptionError('multi({ pipeline: false }) must not be used while keys are moved');
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
        // Not to be taken for a promise.
        if (typeof property !== 'string' || property === 'then') return undefined;
        if (property === 'length') return calls.length;
        return (...given: unknown[]) => {
          if (!SENDS.test(property)) {
            calls.push([property, given]);
            return list;
          }
          const keys = mentioned(stem, [...args, ...calls.flatMap(([, words]) => words)]);
          if (keys.length === 0) keys.push(stem);
          return sent(given, (last) => router.send(route, keys, (client) => send(client, property, last)));
        };
      },
    },
  );
  return list;
}
