import { observable } from '../lib/observable.js';

const KEY = 'idsmith.token';

/** The token of this tab; it is forgotten with the tab. */
export const token = observable<string>(sessionStorage.getItem(KEY) ?? '');

token.subscribe((value) => {
  if (value === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, value);
});

/** Why a token is asked for; nothing while none is needed, or nobody wants to be asked. */
export const wanted = observable<'' | 'missing' | 'refused'>('');

/** Whether somebody has said "not now": then the page waits to be told. */
let isPutOff = false;

/**
 * The server has refused a request.
 *
 * @param used the token that the request was sent with; it may be another one by now
 */
export function refused(used: string): void {
  if (isPutOff || used !== token.get()) return;
  wanted.set(used === '' ? 'missing' : 'refused');
}

/** Goes on with a token that the server knows. */
export function accept(value: string): void {
  isPutOff = false;
  token.set(value);
  wanted.set('');
}

/** Goes on without one. */
export function putOff(): void {
  isPutOff = true;
  wanted.set('');
}

/** Asks for one, because somebody wants to give it. */
export function askAgain(): void {
  isPutOff = false;
  wanted.set('missing');
}

/** Goes on as in a new tab. */
export function forget(): void {
  isPutOff = false;
  token.set('');
}
