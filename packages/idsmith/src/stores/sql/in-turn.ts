/** The last call on each connection or transaction. */
const calls = new WeakMap<object, Promise<unknown>>();

/** Runs calls on one connection one after the other: the steps of two calls would get in each other's way. */
export function inTurn<T>(connection: object, call: () => Promise<T>): Promise<T> {
  const result = (calls.get(connection) ?? Promise.resolve()).then(call);
  calls.set(
    connection,
    result.catch(() => {}),
  );
  return result;
}
