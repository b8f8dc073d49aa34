import { InvalidOptionError } from 'idsmith';
import { expect, it } from 'vitest';
import { requireHttpUrl, splitUrl } from '../../../src/stores/http/connection.ts';
import { openStore } from '../../../src/stores/open.ts';

it.each([
  ['https://secret@host:7600', 'https://host:7600/', 'secret'],
  ['https://:secret@host:7600/ids', 'https://host:7600/ids', 'secret'],
  ['http://host', 'http://host/', undefined],
])('%s has a URL and a token', (given, url, token) => {
  expect(splitUrl(given)).toEqual({ url, token });
});

it.each(['https://secret@host:76000', 'http://secret@', 'http://secret@host:port'])(
  '%s is refused, and the message does not show the token',
  async (url) => {
    expect(() => splitUrl(url)).toThrow(InvalidOptionError);
    const error = await openStore(url).catch((error) => error);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(String(error.stack)).not.toContain('secret');
  },
);

it.each(['ftp://host', 'https://host/?a=1', 'https://host/#a', 'https://user:secret@host', 'host', 5])(
  '%s is no URL of a server',
  (url) => {
    expect(() => requireHttpUrl(url)).toThrow(/^the URL of a server must look like https:\/\/host:7600/);
  },
);
