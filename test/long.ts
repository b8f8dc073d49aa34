import { it } from 'vitest';
import { depth } from './depth.ts';

/** A test that is deep rather than wide: it runs in `npm run test:long`. A shorter one beside it, or on another store, runs in CI. */
export const itIfLong = it.runIf(depth > 0);
