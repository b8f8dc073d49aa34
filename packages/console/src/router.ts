import { observable } from './observable.js';

/** The page in the address: `#/inspect/1703865194431643648`. */
export interface Route {
  readonly page: string;
  /** The text after the name of the page, decoded. */
  readonly rest: string;
}

export const route = observable<Route>(parse(location.hash));

addEventListener('hashchange', () => route.set(parse(location.hash)));

function parse(hash: string): Route {
  const [, page = '', ...rest] = hash.replace(/^#/, '').split('/');
  return { page: page || 'inspect', rest: decode(rest.join('/')) };
}

/** Decodes a part of the address, or returns it unchanged if its escapes are wrong. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hrefOf(page: string, rest = ''): string {
  return `#/${page}${rest === '' ? '' : `/${encodeURIComponent(rest)}`}`;
}

/** Replaces the text after the page in the address, without a new entry in the browser history. */
export function replaceRest(page: string, rest: string): void {
  history.replaceState(null, '', hrefOf(page, rest));
  route.set({ page, rest });
}
