import { observable } from '../observable.js';
import { useObservable } from './hooks.js';

/** The time for which a message stays visible, ms. */
const STAY = 4000;

const message = observable('');
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a message in the corner, and reads it to screen readers. */
export function showToast(text: string): void {
  clearTimeout(timer);
  message.set(text);
  timer = setTimeout(() => message.set(''), STAY);
}

export function Toast() {
  const text = useObservable(message);
  return (
    <div class="toast-place" role="status" aria-live="polite">
      {text !== '' && <div class="toast">{text}</div>}
    </div>
  );
}
