import { useEffect, useRef } from 'preact/hooks';
import { connection, retryNow } from '../api/connection.js';
import { span } from '../lib/format.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { showToast } from '../ui/toast.js';
import { useNow } from '../ui/use-now.js';
import { useObservable } from '../ui/use-observable.js';
import styles from './unreachable-banner.module.css';

/** Tells the user that the server is unreachable, and that it responds again. */
export function UnreachableBanner() {
  const { isUnreachable, since } = useObservable(connection);
  const wasUnreachable = useRef(false);
  useEffect(() => {
    if (wasUnreachable.current && !isUnreachable) showToast('Connected to the server again.');
    wasUnreachable.current = isUnreachable;
  }, [isUnreachable]);
  return isUnreachable ? <Banner since={since} /> : null;
}

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
