import type { Assets } from '../http/assets.js';
import { openApiOf } from '../http/openapi.js';
import type { Route } from '../http/route.js';
import { routeListPage } from '../http/route-list-page.js';

/** The OpenAPI document of all routes, and the page at `/`. */
export function openApiAndConsoleRoutes(others: readonly Route[], version: string, assets: Assets): Route[] {
  let document = Buffer.alloc(0);
  let page = assets.page;
  const own: Route[] = [
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      scope: 'public',
      response: { type: 'object' },
      isConstant: true,
      handle: () => document,
    },
    {
      method: 'GET',
      path: '/',
      summary: 'The console, or a page with a list of the routes',
      scope: 'public',
      contentType: 'text/html; charset=utf-8',
      isConstant: true,
      handle: () => page,
    },
  ];
  document = Buffer.from(JSON.stringify(openApiOf([...others, ...own], version)));
  page ??= Buffer.from(routeListPage([...others, ...own]));
  return own;
}
