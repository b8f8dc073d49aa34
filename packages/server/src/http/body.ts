import type { IncomingHttpHeaders } from 'node:http';
import { RequestProblem } from './problem.js';

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
