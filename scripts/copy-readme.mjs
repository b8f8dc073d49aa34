// Before a package is packed: the project's README goes into it.

import { copyFileSync } from 'node:fs';

copyFileSync(new URL('../README.md', import.meta.url), 'README.md');
