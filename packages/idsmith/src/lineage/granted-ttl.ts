import { COVERED_LOSS } from './ceiling.js';

/**
 * The length of a window that may be granted now, ms. After a loss, everybody waits for the longest ttl of which the store has a note, and for
 * `usual` at least. A longer ttl counts once its note is older than any loss that is covered. Before that, the note may be lost together with
 * the window.
 *
 * @param usual the shortest time for which anybody waits after a loss, ms
 * @param noted how long the store has had a note of the ttl, by its clock, ms. Clocks of servers that follow each other may differ by twice the skew.
 * @param covered the longest loss that is covered, ms
 */
export function grantedTtl(
  ttl: number,
  usual: number,
  noted: number,
  maxSkew: number,
  covered = COVERED_LOSS,
): number {
  return noted >= covered + 2 * maxSkew ? ttl : Math.min(ttl, usual);
}
