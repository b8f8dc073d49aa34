// node set-up.mjs URL NAME: a process that uses a store for the first time, and defines a sequence.

import { openStore } from 'idsmith/stores';

const [url, name] = process.argv.slice(2);
const store = await openStore(url);
await store.listLeases('orders');
await store.defineSequence({ name });
const { first } = await store.allocate(name, 1);
const { version, leastReader } = await store.schemaVersion();
console.log(JSON.stringify({ first: String(first), version, leastReader }));
await store.close();
