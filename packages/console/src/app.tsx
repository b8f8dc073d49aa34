import { type ComponentType, render } from 'preact';
import styles from './app.module.css';
import { AuditPage } from './pages/audit/audit-page.js';
import { HealthPage } from './pages/health/health-page.js';
import { InspectPage } from './pages/inspect/inspect-page.js';
import { LeasesPage } from './pages/leases/leases-page.js';
import { MintPage } from './pages/mint/mint-page.js';
import { OverviewPage } from './pages/overview/overview-page.js';
import { RingPage } from './pages/ring/ring-page.js';
import { SequencesPage } from './pages/sequences/sequences-page.js';
import { hrefOf, route } from './router.js';
import { ErrorBoundary } from './shell/error-boundary.js';
import { SearchDialog } from './shell/search-dialog.js';
import { Sidebar } from './shell/sidebar.js';
import { TokenDialog } from './shell/token-dialog.js';
import { UnreachableBanner } from './shell/unreachable-banner.js';
import { useObservable } from './ui/hooks.js';
import { Page } from './ui/page.js';
import { Toast } from './ui/toast.js';

const PAGES: Readonly<Record<string, ComponentType<{ rest: string }>>> = {
  overview: OverviewPage,
  inspect: InspectPage,
  mint: MintPage,
  sequences: SequencesPage,
  leases: LeasesPage,
  ring: RingPage,
  health: HealthPage,
  audit: AuditPage,
};

function App() {
  const { page, rest } = useObservable(route);
  const Current = Object.hasOwn(PAGES, page) ? PAGES[page] : undefined;
  return (
    <>
      {/* A button, because the router would read the address of a link as a page. */}
      <button
        type="button"
        class={styles.skip}
        onClick={() => document.querySelector<HTMLElement>('h1')?.focus()}
      >
        Skip to content
      </button>
      <Sidebar page={page} />
      <main class={styles.main}>
        <UnreachableBanner />
        {Current === undefined ? (
          <Page title="Page not found" lead="The console has no page at this address.">
            <p>
              <a href={hrefOf('overview')}>Overview</a>
            </p>
          </Page>
        ) : (
          <ErrorBoundary key={`${page} ${page === 'sequences' && rest}`}>
            <Current rest={rest} />
          </ErrorBoundary>
        )}
      </main>
      <SearchDialog />
      <TokenDialog />
      <Toast />
    </>
  );
}

render(<App />, document.getElementById('app') as HTMLElement);
