import type { IncomingHttpHeaders } from 'node:http';
import querystring from 'node:querystring';
import { RequestProblem } from './problem.js';

/**
 * Parses the parameters of a query. Only plain digits become numbers: `1e3`, `0x10` and ` 5 ` stay text, which the schemas refuse
 * where they expect a number. A repeated parameter becomes a list, which every schema refuses.
 */
export function parseQuery(text: string): Record<string, unknown> {
  const query = new (Query as unknown as new () => Record<string, unknown>)();
  if (text === '') return query;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? '' : pair.slice(at + 1);
    const read = /^(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : decode(value);
    query[name] = name in query ? [query[name], read] : read;
  }
  return query;
}

/** Makes an object without any properties, inherited ones included. Reading it is faster than `Object.create(null)`. */
function Query(): void {}
Query.prototype = Object.create(null);

const decode = (text: string) => (/[%+]/.test(text) ? querystring.unescape(text.replaceAll('+', ' ')) : text);

/** The deepest nesting of a body. No route needs more than three levels. */
const MAX_DEPTH = 32;

/** The reason why a body is not read; `undefined` if it is. */
export function bodyRefusal(headers: IncomingHttpHeaders, text: string): RequestProblem | undefined {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    return new RequestProblem(
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'bodies must be sent without Content-Encoding, as plain JSON',
      { 'accept-encoding': 'identity' },
    );
  if (depthOf(text) > MAX_DEPTH)
    return new RequestProblem(400, 'MALFORMED', `the body is nested more than ${MAX_DEPTH} levels deep`);
  return undefined;
}

/** The deepest nesting of lists and objects in a JSON text, counted no further than the limit. */
function depthOf(text: string): number {
  let [depth, deepest, isText] = [0, 0, false];
  for (let i = 0; i < text.length && deepest <= MAX_DEPTH; i++) {
    const character = text[i];
    if (character === '"') isText = !isText;
    else if (isText) i += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}
