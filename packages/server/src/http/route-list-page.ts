import type { Route } from './route.js';

/** A plain HTML page with a list of the routes. */
export function routeListPage(routes: readonly Route[]): string {
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
