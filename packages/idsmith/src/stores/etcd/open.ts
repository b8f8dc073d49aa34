import { InvalidOptionError } from '../../errors.js';
import { requireChoice } from '../../options.js';
import type { DisposableStore } from '../store.js';
import { requireSettings } from '../url.js';
import { etcdStore } from './store.js';

/**
 * The store of a URL like `etcd://host:2379,host:2379?tls=true&prefix=idsmith/&timeout=5000`. Only the hosts are required.
 *
 * @throws InvalidOptionError when the URL is not of that form
 */
export async function openEtcd(url: string): Promise<DisposableStore> {
  const [, hosts, query] = /^etcd:\/\/([^/?#@]+)\/?(?:\?([^#]*))?$/i.exec(url) ?? [];
  if (hosts === undefined)
    throw new InvalidOptionError(
      'an etcd URL must look like etcd://host:2379,host:2379, without credentials',
    );
  const settings = new URLSearchParams(query);
  requireSettings('an etcd URL', settings, ['tls', 'prefix', 'timeout']);
  const tls = requireChoice('tls', settings.get('tls') ?? 'false', ['false', 'true']) === 'true';
  const [prefix, timeout] = [settings.get('prefix'), settings.get('timeout')];
  return etcdStore({
    endpoints: hosts
      .split(',')
      .map((host) => `${tls ? 'https' : 'http'}://${host}${/:\d+$/.test(host) ? '' : ':2379'}`),
    ...(prefix !== null && { prefix }),
    ...(timeout !== null && { timeout: Number(timeout) }),
  });
}
