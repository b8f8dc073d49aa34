/** The longest time for which metrics wait for the store or for shards, ms. The last state is shown then. */
export const PATIENCE = 1000;

/** The value of a promise, or `undefined` after `ms`. @throws its error */
export async function inTime<T>(promise: PromiseLike<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
