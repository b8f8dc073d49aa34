import { useEffect, useRef } from 'preact/hooks';
import { connection, retryNow } from '../api/connection.js';
import { span } from '../lib/format.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { showToast } from '../ui/toast.js';
import { useNow } from '../ui/use-now.js';
import { useObservable } from '../ui/use-observable.js';
import styles from './unreachable-banner.module.css';

/** Says that the server is away, and that it is back. */
export function UnreachableBanner() {
  const { isUnreachable, since } = useObservable(connection);
  const was = useRef(false);
  useEffect(() => {
    if (was.current && !isUnreachable) showToast('The server is back.');
    was.current = isUnreachable;
  }, [isUnreachable]);
  return isUnreachable ? <Banner since={since} /> : null;
}

function Banner({ since }: { since: number }) {
  const now = useNow();
  return (
    <div class={styles.banner} role="alert">
      <Icon name="warning" />
      <div>
        <strong>The server does not answer.</strong> What you see is from before; it is asked again by itself.
        <span aria-hidden="true">{now - since < 1000 ? '' : ` Away for ${span(now - since)}.`}</span>
      </div>
      <Button onClick={retryNow}>Try now</Button>
    </div>
  );
}
