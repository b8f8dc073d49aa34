import type { Assets } from '../http/assets.js';
import { openApiOf } from '../http/openapi.js';
import type { Route } from '../http/route.js';
import { pageOf } from '../http/route-list-page.js';

/** The routes that tell of all others. */
export function selfRoutes(others: readonly Route[], version: string, assets: Assets): Route[] {
  let document = '';
  const page = assets.page;
  const own: Route[] = [
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      scope: 'public',
      answer: { type: 'object' },
      handle: () => document,
    },
    {
      method: 'GET',
      path: '/',
      summary: 'The console, or a page that names the routes',
      scope: 'public',
      type: 'text/html; charset=utf-8',
      handle: () => page ?? pageOf([...others, ...own]),
    },
  ];
  document = JSON.stringify(openApiOf([...others, ...own], version));
  return own;
}
