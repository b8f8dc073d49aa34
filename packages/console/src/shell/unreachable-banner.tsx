import { useEffect, useRef } from 'preact/hooks';
import { connection, retryNow, waitingSince } from '../api/connection.js';
import { ApiError, sentenceOf } from '../api/errors.js';
import { api } from '../api/routes.js';
import { span, utc } from '../lib/format.js';
import { Button } from '../ui/button.js';
import { useNow, useObservable } from '../ui/hooks.js';
import { Icon } from '../ui/icon.js';
import { showToast } from '../ui/toast.js';
import { usePolling } from '../ui/use-polling.js';
import styles from './unreachable-banner.module.css';

/** Tells the user that the server is unreachable, and that it responds again. */
export function UnreachableBanner() {
  const { isUnreachable, since } = useObservable(connection);
  const wasUnreachable = useRef(false);
  useEffect(() => {
    if (wasUnreachable.current && !isUnreachable) showToast('Connected to the server again.');
    wasUnreachable.current = isUnreachable;
  }, [isUnreachable]);
  if (isUnreachable) return <Banner since={since} />;
  return (
    <>
      <SilenceBanner />
      <NotReadyBanner />
    </>
  );
}

/** A server that owes an answer for this long counts as silent, ms. */
const SILENT = 4000;

/** Tells the user that the server takes requests and does not answer: it hangs, or its store does. */
function SilenceBanner() {
  const since = useObservable(waitingSince);
  const now = useNow();
  if (since === 0 || now - since < SILENT) return null;
  return (
    <div class={styles.banner} role="alert">
      <Icon name="warning" />
      <div>
        <strong>The server has not answered for {span(now - since)}.</strong> The data on this page is from{' '}
        {utc(since)} UTC or earlier. The process hangs, or waits for its store.
      </div>
    </div>
  );
}

/** Tells the user why the server does not mint, on every page. */
function NotReadyBanner() {
  const { error } = usePolling('ready', api.ready, READY_INTERVAL);
  if (!(error instanceof ApiError) || error.status !== 503) return null;
  return (
    <div class={styles.banner} role="alert">
      <Icon name="warning" />
      <div>
        <strong>The server is not ready ({error.code}).</strong> {sentenceOf(error)}{' '}
        {WAYS_OUT[error.code] ?? ''}
      </div>
    </div>
  );
}

const READY_INTERVAL = 5000;

/** What to do about each reason. */
const WAYS_OUT: Readonly<Record<string, string>> = {
  STORE:
    'Look at the store and its address in the log of the server, event “not ready”. Ids come again when the store answers.',
  LEASES_EXHAUSTED:
    'End holders that are no longer needed, or use a layout with more node ids in a namespace of its own.',
  LEASE_FENCED: 'The lease was not renewed in time. It comes back by itself when the store answers.',
  CLOCK: 'Compare the clock of this machine with that of the store.',
  TIME_EXHAUSTED: 'The layout has no time left: use another layout in another namespace.',
};

function Banner({ since }: { since: number }) {
  const now = useNow();
  return (
    <div class={styles.banner} role="alert">
      <Icon name="warning" />
      <div>
        <strong>The server is not responding.</strong> This page shows the last data it received and keeps
        trying to reconnect.
        <span aria-hidden="true">{now - since < 1000 ? '' : ` Unreachable for ${span(now - since)}.`}</span>
      </div>
      <Button onClick={retryNow}>Retry now</Button>
    </div>
  );
}
