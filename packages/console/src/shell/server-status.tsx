import { connection } from '../api/connection.js';
import { ApiError, sentenceOf } from '../api/errors.js';
import { api } from '../api/routes.js';
import { useObservable } from '../ui/use-observable.js';
import { usePolling } from '../ui/use-polling.js';
import styles from './server-status.module.css';

const INTERVAL = 5000;

/** A light that shows the state of the server. */
export function ServerStatus() {
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
