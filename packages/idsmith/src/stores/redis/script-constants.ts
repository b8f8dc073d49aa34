// Values that scripts and their callers share: `--- @const` puts them into the scripts.

export { UNMARKED } from '../../sequence/blocks.js';
