// Words that scripts and their callers exchange. scripts/build-lua.mjs puts them into the scripts.

/** Data of another server, or of this one before a restart, may be out of date and is not used. */
export const FORGETFUL = 'forgetful';

/** This Redis never loses an acknowledged write. Its data is always used. */
export const DURABLE = 'durable';

/** The caller knows where the sequence has to go on. Data that the caller has read from this server is used. */
export const VOUCHED = 'vouched';

/** The reply of a script that found data it must not use. */
export const FORGOTTEN = 'forgotten';

/** The reply of a script whose resharding is not under way on the node. */
export const STALE = 'stale';
