import { percent } from '../../lib/format.js';
import { Meter } from '../../ui/meter.js';
import styles from './share-bar.module.css';

/** A share of the keys, as a bar and as a number. */
export function ShareBar({ share, of }: { share: number; of: string }) {
  return (
    <div class={styles.bar}>
      <Meter share={share} label={`${percent(share)} of ${of}`} />
      <span class={`mono ${styles.share}`}>{percent(share)}</span>
    </div>
  );
}
