import { observable } from './observable.js';

/** The page in the address: `#/inspect/1703865194431643648`, `#/sequences?q=orders`. */
export interface Route {
  readonly page: string;
  /** The text after the name of the page, decoded. */
  readonly rest: string;
  /** The parameters after the question mark. */
  readonly query: Readonly<Record<string, string>>;
}

export const route = observable<Route>(parse(location.hash));

addEventListener('hashchange', () => route.set(parse(location.hash)));

function parse(hash: string): Route {
  const [path = '', ...search] = hash.replace(/^#/, '').split('?');
  const [, page = '', ...rest] = path.split('/');
  const query = Object.fromEntries(new URLSearchParams(search.join('?')));
  return { page: page || 'overview', rest: decode(rest.join('/')), query };
}

/** Decodes a part of the address, or returns it unchanged if its escapes are wrong. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hrefOf(page: string, rest = '', query: Route['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `#/${page}${rest === '' ? '' : `/${encodeURIComponent(rest)}`}${search}`;
}

/** Replaces the text after the page in the address, without a new entry in the browser history. */
export function replaceRest(page: string, rest: string, query: Route['query'] = {}): void {
  history.replaceState(null, '', hrefOf(page, rest, query));
  route.set({ page, rest, query });
}
