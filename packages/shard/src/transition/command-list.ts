import { InvalidOptionError } from 'idsmith/internal';
import { requireRoutable } from './client-methods.js';
import { keysInArguments } from './keys-in-arguments.js';

type Method = (...args: unknown[]) => unknown;

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
export function commandList(client: ListClient, kind: string, args: readonly unknown[]): object {
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
