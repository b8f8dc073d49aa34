// Values that scripts and their callers share: `--- @const` puts them into the scripts.

import { VARIANTS } from '../keys/codec.js';
import {
  FRESH_UNSURE_VARIANTS,
  FRESH_VARIANTS,
  HANDOVER_UNSURE_VARIANTS,
  HANDOVER_VARIANTS,
} from '../keys/variants.js';

/** The reply of a script whose resharding is not under way on the node. */
export const STALE = 'stale';

/** The reply of a script that writes nothing, because the server removes keys when it is full. */
export const EVICTING = 'evicting';

export const LAST_VARIANT = VARIANTS - 1;
export const FRESH_FIRST = FRESH_VARIANTS.first;
export const FRESH_LAST = FRESH_VARIANTS.last;
export const HANDOVER_FIRST = HANDOVER_VARIANTS.first;
export const HANDOVER_LAST = HANDOVER_VARIANTS.last;
export const FRESH_UNSURE_FIRST = FRESH_UNSURE_VARIANTS.first;
export const FRESH_UNSURE_LAST = FRESH_UNSURE_VARIANTS.last;
export const HANDOVER_UNSURE_FIRST = HANDOVER_UNSURE_VARIANTS.first;
export const HANDOVER_UNSURE_LAST = HANDOVER_UNSURE_VARIANTS.last;
