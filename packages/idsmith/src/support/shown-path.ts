/**
 * The path of a file with secrets, as a message may show it. People put the secret itself where its file belongs, and messages end up in logs:
 * a text that could be a secret is not shown.
 *
 * @example
 * shownPath('/run/secrets/ids.txt'); // '/run/secrets/ids.txt'
 * shownPath('2b7e151628aed2a6abf7158809cf4f3c'); // 'FILE (not shown, because …)'
 */
export function shownPath(path: string): string {
  // Lines, JSON and assignments are no paths. A long word without a dot is a key in hex or base64, or a path that is better hidden, too.
  const mayBeSecret = /[\s{=]/.test(path) || /^[\w+/-]{32,}$/.test(path);
  return mayBeSecret ? 'FILE (not shown, because it may be a secret: give the path of a file)' : path;
}
