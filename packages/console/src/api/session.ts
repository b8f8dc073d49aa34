import { observable } from '../lib/observable.js';

const KEY = 'idsmith.token';

/** The token of this tab; it is forgotten with the tab. */
export const token = observable<string>(sessionStorage.getItem(KEY) ?? '');

token.subscribe((value) => {
  if (value === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, value);
});

/** Why a token is asked for; nothing while none is needed, or nobody wants to be asked. */
export const tokenPrompt = observable<'' | 'missing' | 'refused'>('');

/** Whether somebody has said "not now": then the page waits to be told. */
let isDismissed = false;

/**
 * The server has refused a request.
 *
 * @param used the token that the request was sent with; it may be another one by now
 */
export function tokenRefused(used: string): void {
  if (isDismissed || used !== token.get()) return;
  tokenPrompt.set(used === '' ? 'missing' : 'refused');
}

/** Goes on with a token that the server knows. */
export function acceptToken(value: string): void {
  isDismissed = false;
  token.set(value);
  tokenPrompt.set('');
}

/** Goes on without one. */
export function dismissPrompt(): void {
  isDismissed = true;
  tokenPrompt.set('');
}

/** Asks for one, because somebody wants to give it. */
export function promptForToken(): void {
  isDismissed = false;
  tokenPrompt.set('missing');
}

/** Goes on as in a new tab. */
export function forgetToken(): void {
  isDismissed = false;
  token.set('');
}
