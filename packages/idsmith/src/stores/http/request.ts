import { requireNamespace } from '../../lease/namespace.js';
import { refuse } from '../../options.js';
import { requireSequenceName } from '../../sequence/name.js';

/** A request to a server. */
export interface HttpRequest {
  /** The operation, for error messages: `allocating from sequence "orders"`. */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** True when the request may be sent again after a lost reply: the server remembers the reply, or a repetition is harmless. */
  readonly isRepeatable: boolean;
}

/** A request that reads. */
export const get = (what: string, path: string): HttpRequest => ({
  ...{ what, method: 'GET', path, isRepeatable: true },
});

/** A request that changes something. */
export const post = (what: string, path: string, body?: object, isRepeatable = false): HttpRequest => ({
  ...{ what, method: 'POST', path, isRepeatable },
  ...(body !== undefined && { body }),
});

/** The path of a namespace's leases. */
export const leasesPath = (namespace: string) =>
  `/v1/leases/${segment('namespace', requireNamespace(namespace))}`;

/** The path of a sequence. */
export const sequencePath = (name: string) =>
  `/v1/sequences/${segment('the name of a sequence', requireSequenceName(name))}`;

/** One segment of a path. URLs cannot have the segments `.` and `..`, not even escaped. */
function segment(option: string, text: string): string {
  if (text === '.' || text === '..') refuse(option, 'another than "." and ".." over HTTP', text);
  return encodeURIComponent(text);
}
