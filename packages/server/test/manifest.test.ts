import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { makeFolder, removeFolder } from '#services/guard.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { startIdsmithWith } from './support/process.ts';

// The manifest of the documentation. `test/frameworks` holds it against the schemas of Kubernetes.

const text = readFileSync(
  fileURLToPath(new URL('../../../docs/operating/server.yaml', import.meta.url)),
  'utf8',
);
const [deployment, service, budget] = parseAllDocuments(text).map((document) => document.toJS());
const pod = deployment.spec.template.spec;
const [container] = pod.containers;

it('The manifest for Kubernetes starts a server that its probes and its token reach', async ({
  onTestFinished,
}) => {
  const folder = makeFolder('manifest');
  const secret = 'not-a-secret-but-of-many-different-characters';
  const [, tokens] = /--from-literal=tokens="(.*)"/.exec(text) as unknown as [string, string];
  writeFileSync(join(folder, 'tokens'), tokens.replace(/\$\(.*\)/, secret), { mode: 0o600 });
  const inCluster: Record<string, string> = { '/run/secrets/idsmith/tokens': join(folder, 'tokens') };
  const env = Object.fromEntries(
    container.env.map(({ name, value = 'memory:' }: { name: string; value?: string }) => [
      name,
      inCluster[value] ?? value,
    ]),
  );
  expect(env).toMatchObject({ IDSMITH_STORE: 'memory:', IDSMITH_SECRETS: join(folder, 'tokens') });
  const server = await startIdsmithWith(env);
  onTestFinished(async () => {
    await server.stop();
    await removeFolder(folder);
  });
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe])
    await expect.poll(async () => (await fetch(server.url + probe.httpGet.path)).status).toBe(200);
  const mint = (token: string) =>
    fetch(`${server.url}/v1/flakes`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  expect((await mint(secret)).status).toBe(200);
  expect((await mint('other')).status).toBe(401);
  // An unknown variable would be a warning.
  expect(server.log()).not.toContain('odd setting');
});

it('The manifest for Kubernetes has the port of the server, and time for its grace', () => {
  const [port] = container.ports;
  expect(port.containerPort).toBe(SETTINGS.port.fallback);
  expect(service.spec.ports[0].targetPort).toBe(port.name);
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(SETTINGS.grace.fallback / 1000);
  const { labels } = deployment.spec.template.metadata;
  for (const selector of [
    deployment.spec.selector.matchLabels,
    service.spec.selector,
    budget.spec.selector.matchLabels,
  ])
    expect(labels).toMatchObject(selector);
});
