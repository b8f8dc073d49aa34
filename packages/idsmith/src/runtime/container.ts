// Signs that a process runs in a container, where process ids and MAC addresses repeat. No sign is certain, so all of them are
// checked. A false sign costs little: the identity is then random.

/** The places to look for signs. */
export interface Surroundings {
  readonly platform: string;
  /** The value of an environment variable. */
  env(name: string): string | undefined;
  exists(path: string): boolean;
  /** The text of a file; `undefined` if the file cannot be read. */
  read(path: string): string | undefined;
  /** The target of a symbolic link; `undefined` if the link cannot be read. */
  link(path: string): string | undefined;
}

/** Variables set by Kubernetes; by systemd-nspawn, LXC and Podman; by AWS; by Cloud Run and Knative; by WSL. */
const VARIABLES = [
  'KUBERNETES_SERVICE_HOST',
  'container',
  'ECS_CONTAINER_METADATA_URI',
  'ECS_CONTAINER_METADATA_URI_V4',
  'AWS_LAMBDA_FUNCTION_NAME',
  'K_SERVICE',
  'WSL_DISTRO_NAME',
];

/** Files made by Docker; by Podman and CRI-O; by systemd; by Kubernetes. */
const FILES = [
  '/.dockerenv',
  '/run/.containerenv',
  '/run/systemd/container',
  '/var/run/secrets/kubernetes.io',
];

/** Parts of the names of containers' control groups. */
const CGROUP = /docker|kubepods|containerd|crio|libpod|lxc|ecs|garden|machine\.slice/;

/** The process namespace of the Linux machine itself. */
const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

/** All signs of a container that this process finds, each in a few words. */
export function containerSigns({ platform, env, exists, read, link }: Surroundings): string[] {
  const signs = VARIABLES.filter((name) => env(name) !== undefined).map((name) => `variable ${name}`);
  if (/^Container(Administrator|User)$/.test(env('USERNAME') ?? '')) signs.push('variable USERNAME');
  if (platform !== 'linux') return signs;
  signs.push(...FILES.filter(exists));
  const namespace = link('/proc/self/ns/pid');
  if (namespace !== FIRST_PID_NAMESPACE) signs.push(`process namespace ${namespace ?? 'unknown'}`);
  for (const path of ['/proc/1/cgroup', '/proc/self/cgroup'])
    if (CGROUP.test(read(path) ?? '')) signs.push(path);
  if (hasLayeredRoot(read('/proc/self/mountinfo') ?? '')) signs.push('a layered root file system');
  return signs;
}

/** True if `/` consists of layers. In a line of mountinfo the fifth field is the place, the first after ` - ` the type. */
function hasLayeredRoot(mountinfo: string): boolean {
  return mountinfo
    .split('\n')
    .some(
      (line) =>
        line.split(' ')[4] === '/' && /^(overlay|aufs|fuse-overlayfs)\b/.test(line.split(' - ')[1] ?? ''),
    );
}

/** Platforms that start several copies of a container, and the variable by which each is known. */
const PLATFORMS: readonly (readonly [variable: string, name: string])[] = [
  ['KUBERNETES_SERVICE_HOST', 'Kubernetes'],
  ['ECS_CONTAINER_METADATA_URI_V4', 'ECS'],
  ['ECS_CONTAINER_METADATA_URI', 'ECS'],
  ['K_SERVICE', 'Cloud Run'],
  ['CLOUD_RUN_JOB', 'Cloud Run'],
  ['AWS_LAMBDA_FUNCTION_NAME', 'Lambda'],
];

/** The platform that starts copies of this container, if one is known. */
export function platformOf(env: (name: string) => string | undefined): string | undefined {
  return PLATFORMS.find(([variable]) => env(variable) !== undefined)?.[1];
}
