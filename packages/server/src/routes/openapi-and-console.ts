import type { Assets } from '../http/assets.js';
import { openApiOf } from '../http/openapi.js';
import type { Route } from '../http/route.js';

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

/** A plain HTML page with a list of the routes. */
function routeListPage(routes: readonly Route[]): string {
  const rows = routes.map(
    ({ method, path, summary }) =>
      `<tr><td>${method}</td><td><code>${escaped(path)}</code></td><td>${escaped(summary)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>idsmith</title></head>
<body>
<h1>idsmith</h1>
<p>Ids for distributed systems. <a href="/openapi.json">openapi.json</a> describes every route,
<a href="/metrics">metrics</a> shows the state of this server.</p>
<p>Try: <code>curl -X POST 'http://127.0.0.1:7600/v1/flakes?count=3'</code></p>
<table>
<thead><tr><th>method</th><th>path</th><th>does</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</body>
</html>
`;
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
