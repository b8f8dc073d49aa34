import { connection, refreshAll } from '../api/connection.js';
import { ApiError, sentenceOf } from '../api/errors.js';
import { api } from '../api/routes.js';
import { forgetToken, token } from '../api/session.js';
import { day } from '../lib/format.js';
import { hrefOf } from '../router.js';
import { Button } from '../ui/button.js';
import { useObservable } from '../ui/hooks.js';
import { Icon, type IconName } from '../ui/icon.js';
import { THEMES, type Theme, theme } from '../ui/theme.js';
import { showToast } from '../ui/toast.js';
import { usePolling } from '../ui/use-polling.js';
import { useServer } from '../ui/use-server.js';
import { openSearch } from './search-dialog.js';
import styles from './sidebar.module.css';

const LINKS: readonly (readonly [page: IconName, label: string])[] = [
  ['overview', 'Overview'],
  ['inspect', 'Inspect'],
  ['mint', 'Mint'],
  ['sequences', 'Sequences'],
  ['leases', 'Leases'],
  ['ring', 'Ring'],
  ['health', 'Health'],
  ['audit', 'Audit'],
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
        <div class={styles.search}>
          <Button look="plain" icon="search" label="Search and jump (Ctrl K)" onClick={openSearch}>
            Search
          </Button>
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
          <TokenName />
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

/** The name of the token in use, and its end. */
function TokenName() {
  const server = useServer();
  if (!server?.token) return null;
  const { name, expires } = server.token;
  const end = expires === null ? '' : `, until ${day(expires)}`;
  return (
    <span class={`muted ${styles.token}`} title={`Token ${name}, scopes ${server.scopes.join(', ')}${end}`}>
      {name}
      {end}
    </span>
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

const SHOWN = {
  auto: { icon: 'auto', label: 'system' },
  light: { icon: 'sun', label: 'light' },
  dark: { icon: 'moon', label: 'dark' },
} as const;

/** Switches to the next theme. */
function ThemeSwitch() {
  const current = useObservable(theme);
  const next = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] as Theme;
  return (
    <Button
      look="quiet"
      icon={SHOWN[current].icon}
      label={`Theme: ${SHOWN[current].label}. Switch to ${SHOWN[next].label}`}
      onClick={() => theme.set(next)}
    />
  );
}

const INTERVAL = 5000;

/** A light that shows the state of the server. */
function ServerStatus() {
  const { isUnreachable } = useObservable(connection);
  const { data, error, isStale } = usePolling('ready', api.ready, INTERVAL);
  const [tone, text] = isUnreachable
    ? [styles.bad, 'Unreachable']
    : error instanceof ApiError
      ? [styles.warn, 'Not ready']
      : isStale
        ? [styles.warn, 'No answer']
        : data === undefined
          ? ['', 'Connecting']
          : [styles.good, 'Ready'];
  return (
    <span class={`${styles.status} ${tone}`} title={error === undefined ? undefined : sentenceOf(error)}>
      <span class={styles.dot} aria-hidden="true" />
      <span class="visually-hidden">Server: </span>
      {text}
    </span>
  );
}
