// The signs by which a process can tell that it runs in a container, where process ids and MAC addresses repeat. There is no
// sure one, so all of them are looked at. One too many costs little: the identity is then random.

/** Where signs are looked for. */
export interface Surroundings {
  readonly platform: string;
  /** A variable of the environment. */
  env(name: string): string | undefined;
  exists(path: string): boolean;
  /** The text of a file, `undefined` if it cannot be read. */
  read(path: string): string | undefined;
  /** Where a symbolic link points, `undefined` if it cannot be read. */
  link(path: string): string | undefined;
}

/** Set by Kubernetes, by systemd-nspawn, LXC and Podman, by AWS, by Cloud Run and Knative, and by WSL, in this order. */
const VARIABLES = [
  'KUBERNETES_SERVICE_HOST',
  'container',
  'ECS_CONTAINER_METADATA_URI',
  'ECS_CONTAINER_METADATA_URI_V4',
  'AWS_LAMBDA_FUNCTION_NAME',
  'K_SERVICE',
  'WSL_DISTRO_NAME',
];

/** Made by Docker, by Podman and CRI-O, by systemd, and by Kubernetes, in this order. */
const FILES = [
  '/.dockerenv',
  '/run/.containerenv',
  '/run/systemd/container',
  '/var/run/secrets/kubernetes.io',
];

/** What control groups of containers are called. */
const CGROUP = /docker|kubepods|containerd|crio|libpod|lxc|ecs|garden|machine\.slice/;

/** The number that Linux gives to the process namespace of the machine itself. */
const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

/** All signs of a container that there are, each in a few words. */
export function containerSigns({ platform, env, exists, read, link }: Surroundings): string[] {
  const signs = VARIABLES.filter((name) => env(name) !== undefined).map((name) => `variable ${name}`);
  if (/^Container(Administrator|User)$/.test(env('USERNAME') ?? '')) signs.push('variable USERNAME');
  if (platform !== 'linux') return signs;
  signs.push(...FILES.filter(exists));
  const namespace = link('/proc/self/ns/pid');
  if (namespace !== FIRST_PID_NAMESPACE) signs.push(`process namespace ${namespace ?? 'unknown'}`);
  for (const path of ['/proc/1/cgroup', '/proc/self/cgroup'])
    if (CGROUP.test(read(path) ?? '')) signs.push(path);
  if (hasLayeredRoot(read('/proc/self/mountinfo') ?? '')) signs.push('a root file system in layers');
  return signs;
}

/** Whether `/` is made of layers: in a line of mountinfo the fifth field is where, and the first after ` - ` is which kind. */
function hasLayeredRoot(mountinfo: string): boolean {
  return mountinfo
    .split('\n')
    .some(
      (line) =>
        line.split(' ')[4] === '/' && /^(overlay|aufs|fuse-overlayfs)\b/.test(line.split(' - ')[1] ?? ''),
    );
}
