import querystring from 'node:querystring';

/**
 * The parameters of a query. Digits become numbers and nothing else does: `1e3`, `0x10` and ` 5 ` are text, and refused
 * where a number is wanted. One that comes twice is a list, which is refused everywhere.
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

/** An object without properties of its own or inherited ones. What `Object.create(null)` gives is slower to read. */
function Query(): void {}
Query.prototype = Object.create(null);

const decode = (text: string) => (/[%+]/.test(text) ? querystring.unescape(text.replaceAll('+', ' ')) : text);
