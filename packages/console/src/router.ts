import { observable } from './lib/observable.js';

/** Where the page is: `#/inspect/1703865194431643648`. */
export interface Route {
  readonly page: string;
  /** What comes after the page, decoded. */
  readonly rest: string;
}

export const route = observable<Route>(parse(location.hash));

addEventListener('hashchange', () => route.set(parse(location.hash)));

function parse(hash: string): Route {
  const [, page = '', ...rest] = hash.replace(/^#/, '').split('/');
  return { page: page || 'inspect', rest: decode(rest.join('/')) };
}

/** What somebody typed into the address bar may be no proper escape. */
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

/** Puts `rest` into the address without a new entry in the history. */
export function replaceRest(page: string, rest: string): void {
  history.replaceState(null, '', hrefOf(page, rest));
  route.set({ page, rest });
}
