// `npm start [-- --port 7600 …]`: the server on an embedded SQLite store, in ids.db of this folder.

import process from 'node:process';

process.argv.splice(2, 0, 'serve');
await import('../packages/idsmith/bin/idsmith.js');
