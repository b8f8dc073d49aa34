import { observable } from '../lib/observable.js';

const KEY = 'idsmith.token';

/** The token of this tab; it is forgotten with the tab. */
export const token = observable<string>(sessionStorage.getItem(KEY) ?? '');

token.subscribe((value) => {
  if (value === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, value);
});

/** Why a token is asked for; nothing while none is needed. */
export const wanted = observable<'' | 'missing' | 'refused'>('');

/**
 * The server has refused a request.
 *
 * @param used the token that the request was sent with; it may be another one by now
 */
export function refused(used: string): void {
  if (used !== token.get()) return;
  wanted.set(used === '' ? 'missing' : 'refused');
}

/** Goes on with a token that the server knows. */
export function accept(value: string): void {
  token.set(value);
  wanted.set('');
}
