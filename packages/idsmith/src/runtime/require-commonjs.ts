// The import '#require' where these modules have become CommonJS, which has a `require` anyway.

/** Nothing: the `require` of the module is the one to use. */
export function ownRequire(): ((name: string) => unknown) | undefined {
  return undefined;
}
