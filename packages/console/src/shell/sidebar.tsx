import { refreshAll } from '../api/connection.js';
import { forgetToken, token } from '../api/session.js';
import { hrefOf } from '../router.js';
import { Button } from '../ui/button.js';
import { Icon, type IconName } from '../ui/icon.js';
import { showToast } from '../ui/toast.js';
import { useObservable } from '../ui/use-observable.js';
import { ServerStatus } from './server-status.js';
import styles from './sidebar.module.css';
import { ThemeSwitch } from './theme-switch.js';

const LINKS: readonly (readonly [page: IconName, label: string])[] = [
  ['inspect', 'Inspect'],
  ['mint', 'Mint'],
  ['sequences', 'Sequences'],
  ['leases', 'Leases'],
  ['ring', 'Ring'],
  ['health', 'Health'],
];

export function Sidebar({ page }: { page: string }) {
  const hasToken = useObservable(token) !== '';
  return (
    <header class={styles.sidebar}>
      <div class={styles.inner}>
        <div class={styles.brand}>
          <Logo />
          <span>idsmith</span>
        </div>
        <nav aria-label="Pages">
          <ul>
            {LINKS.map(([name, label]) => (
              <li key={name}>
                <a href={hrefOf(name)} aria-current={page === name ? 'page' : undefined}>
                  <Icon name={name} />
                  <span>{label}</span>
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class={styles.foot}>
          <ServerStatus />
          {hasToken && (
            <Button
              look="quiet"
              label="Forget token of this tab"
              onClick={() => {
                forgetToken();
                refreshAll();
                showToast('Token removed from this tab.');
              }}
            >
              Forget token
            </Button>
          )}
          <ThemeSwitch />
        </div>
      </div>
    </header>
  );
}

/** The fields of an id, as in the icon of the browser tab. */
function Logo() {
  return (
    <svg class={styles.logo} viewBox="0 0 32 32" aria-hidden="true">
      <rect class={styles.logoGround} width="32" height="32" rx="7" />
      <rect x="6" y="7" width="20" height="4" rx="1" />
      <rect x="6" y="14" width="12" height="4" rx="1" opacity=".85" />
      <rect x="20" y="14" width="6" height="4" rx="1" opacity=".5" />
      <rect x="6" y="21" width="5" height="4" rx="1" opacity=".5" />
      <rect x="13" y="21" width="13" height="4" rx="1" opacity=".85" />
    </svg>
  );
}
