import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** The header that carries the id of a request, in both directions. */
export const REQUEST_ID = 'x-request-id';

/** The ids that a caller may choose. Other ids are replaced: they could be long, or imitate other fields of a log. */
const VALID = /^[\w.:/+=@-]{1,128}$/;

/** The form of `traceparent`: version, trace id, id of the parent, flags. Later versions may append fields. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.{0,200})?$/;

const START = randomBytes(9).toString('base64url');
let count = 0;

/** The id of a request: the one that the caller has sent, or else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers[REQUEST_ID];
  if (typeof given === 'string' && VALID.test(given)) return given;
  return `${START}-${(++count).toString(36)}`;
}

/** The trace id of a valid `traceparent` (W3C Trace Context); `undefined` without one. */
export function traceIdOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  const [, version, traceId = '', parentId = '', more] =
    typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent) ?? []) : [];
  const isValid = version !== undefined && version !== 'ff' && (version !== '00' || more === undefined);
  return isValid && /[^0]/.test(traceId) && /[^0]/.test(parentId) ? traceId : undefined;
}
