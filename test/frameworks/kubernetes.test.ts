import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { layouts } from 'idsmith';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = join(import.meta.dirname, 'node_modules', '.kubernetes');
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The validators of Kubernetes' own schemas, which the package `kubernetes-models` carries. */
const MODELS = {
  'apps/v1': { Deployment, StatefulSet },
  'policy/v1': { PodDisruptionBudget },
  v1: { Service },
} as Record<string, Record<string, new (data: object) => { validate(): void }>>;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

const documentsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);
const examples = ['deployment', 'statefulset'].flatMap((name) =>
  documentsIn(readFileSync(join(root, `examples/kubernetes/${name}.yaml`), 'utf8')),
);
const page = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8');
const inDocs = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].flatMap((match) =>
  documentsIn(match[1] ?? ''),
);
const ofServer = documentsIn(readFileSync(join(root, 'docs/operating/server.yaml'), 'utf8'));
const manifests = [...examples, ...inDocs, ...ofServer];

/** The complaints of the compiler about names that the types of Kubernetes do not have. */
function unknownNames({ apiVersion, kind, ...rest }: Manifest): string {
  mkdirSync(scratch, { recursive: true });
  const program = `import { ${kind} } from 'kubernetes-models/${apiVersion}';
    new ${kind}(${JSON.stringify(rest)});`;
  writeFileSync(join(scratch, 'manifest.ts'), program);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const flags = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--types',
    '',
    '--module',
    'nodenext',
  ];
  return spawnSync(process.execPath, [tsc, ...flags, 'manifest.ts'], { cwd: scratch, encoding: 'utf8' })
    .stdout;
}

describe('The manifests for Kubernetes', () => {
  it.each(manifests.map((manifest) => [manifest.kind, manifest] as const))(
    'are valid: %s',
    (kind, manifest) => {
      const Model = MODELS[manifest.apiVersion]?.[kind];
      expect(Model).toBeDefined();
      if (Model) new Model(manifest).validate();
      expect(unknownNames(manifest)).toBe('');
    },
  );

  it('are refused if a value or a name is wrong', () => {
    const wrong = structuredClone(examples[0]) as Manifest & {
      spec: { replicas: unknown; template: { spec: object } };
    };
    wrong.spec.replicas = 'three';
    expect(() => new Deployment(wrong as never).validate()).toThrow('replicas must be integer');
    Object.assign(wrong.spec, { replicas: 3 });
    Object.assign(wrong.spec.template.spec, { terminationGraceSeconds: 30 });
    expect(unknownNames(wrong)).toContain('terminationGraceSeconds');
  });

  const workloads = examples.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');

  it.each(workloads.map((manifest) => [manifest.kind, manifest] as const))(
    'of a %s fit the service',
    (_kind, manifest) => {
      const { spec } = manifest as unknown as { spec: Workload };
      const pod = spec.template.spec;
      const [container] = pod.containers as [Workload['template']['spec']['containers'][number]];
      const service = readFileSync(join(root, 'examples/kubernetes/service.mjs'), 'utf8');
      expect(service).toContain(`'${container.livenessProbe.httpGet.path}'`);
      expect(service).toContain(`readiness: '${container.readinessProbe.httpGet.path}'`);
      for (const { name } of container.env) expect(service).toContain(name);
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(
        2 * container.lifecycle.preStop.sleep.seconds,
      );
      const surge = spec.strategy?.rollingUpdate.maxSurge ?? 0;
      expect(spec.replicas + surge).toBeLessThan(layouts.jflake.nodes);
    },
  );
});

interface Probe {
  httpGet: { path: string };
}

/** The part of a Deployment or StatefulSet that these tests read. */
interface Workload {
  replicas: number;
  strategy?: { rollingUpdate: { maxSurge: number } };
  template: {
    spec: {
      terminationGracePeriodSeconds: number;
      containers: {
        env: { name: string }[];
        livenessProbe: Probe;
        readinessProbe: Probe;
        lifecycle: { preStop: { sleep: { seconds: number } } };
      }[];
    };
  };
}
