import { observable } from '../observable.js';

const KEY = 'idsmith.token';

/** The token of this tab. Closing the tab deletes it. */
export const token = observable<string>(sessionStorage.getItem(KEY) ?? '');

token.subscribe((value) => {
  if (value === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, value);
});

/** The reason for the token dialog. Empty while the dialog is closed. */
export const tokenPrompt = observable<'' | 'missing' | 'refused'>('');

/** True after "Not now": the dialog then opens only when the user asks for it. */
let isDismissed = false;

/**
 * Opens the token dialog after the server refused a request with status 401.
 *
 * @param used the token of that request, which may have been replaced since then
 */
export function tokenRefused(used: string): void {
  if (isDismissed || used !== token.get()) return;
  tokenPrompt.set(used === '' ? 'missing' : 'refused');
}

/** Keeps a token that the server knows, and closes the dialog. */
export function acceptToken(value: string): void {
  isDismissed = false;
  token.set(value);
  tokenPrompt.set('');
}

/** Closes the dialog without a token. */
export function dismissPrompt(): void {
  isDismissed = true;
  tokenPrompt.set('');
}

/** Opens the dialog because the user asked for it. */
export function promptForToken(): void {
  isDismissed = false;
  tokenPrompt.set('missing');
}

/** Deletes the token of this tab. */
export function forgetToken(): void {
  isDismissed = false;
  token.set('');
}
