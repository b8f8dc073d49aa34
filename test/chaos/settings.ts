/** What the processes of a run share: fewer node ids than there are processes. */
export const NAMESPACE = 'chaos';
export const NODE_IDS = 5;
export const MINTERS = 8;

/** Of every lease, ms. Short, so that a killed process's node id is soon free again. */
export const TTL = 2000;

/** By how much wrong clocks are wrong, ms. */
export const HOUR = 3_600_000;
