import querystring from 'node:querystring';

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
