import type { Assets } from '../http/assets.js';
import { openApiOf } from '../http/openapi.js';
import type { Route } from '../http/route.js';
import { routeListPage } from '../http/route-list-page.js';

/** The OpenAPI document of all routes, and the page at `/`. */
export function openApiAndConsoleRoutes(others: readonly Route[], version: string, assets: Assets): Route[] {
  let document = '';
  const page = assets.page;
  const own: Route[] = [
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      scope: 'public',
      response: { type: 'object' },
      handle: () => document,
    },
    {
      method: 'GET',
      path: '/',
      summary: 'The console, or a page with a list of the routes',
      scope: 'public',
      contentType: 'text/html; charset=utf-8',
      handle: () => page ?? routeListPage([...others, ...own]),
    },
  ];
  document = JSON.stringify(openApiOf([...others, ...own], version));
  return own;
}
