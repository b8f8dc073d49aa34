import { connection } from '../api/connection.js';
import { ApiError, sentenceOf } from '../api/errors.js';
import { api } from '../api/routes.js';
import { useLive } from '../ui/use-live.js';
import { useObservable } from '../ui/use-observable.js';

const INTERVAL = 5000;

/** A light: whether the server is there and can mint. */
export function ServerStatus() {
  const { isAway } = useObservable(connection);
  const { data, error } = useLive('ready', api.ready, INTERVAL);
  const [tone, text] = isAway
    ? ['bad', 'Away']
    : error instanceof ApiError
      ? ['warn', 'Not ready']
      : data === undefined
        ? ['', 'Connecting']
        : ['good', 'Ready'];
  return (
    <span class={`status ${tone}`} title={error === undefined ? undefined : sentenceOf(error)}>
      <span class="dot" aria-hidden="true" />
      <span class="visually-hidden">Server: </span>
      {text}
    </span>
  );
}
