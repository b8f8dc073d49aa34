/**
 * Text without secrets, for error messages: user and password of every URL become `***`, and so do the given secrets.
 *
 * @example
 * redact('cannot reach redis://app:hunter2@db'); // 'cannot reach redis://***@db'
 */
export function redact(text: string, ...secrets: readonly (string | undefined)[]): string {
  let shown = text.replace(/:\/\/[^\s/]*@/g, '://***@');
  for (const secret of secrets) if (secret) shown = shown.replaceAll(secret, '***');
  return shown;
}
