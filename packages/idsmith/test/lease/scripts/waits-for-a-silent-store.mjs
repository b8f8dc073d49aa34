// A store that never answers, and holds nothing open that would keep the process alive.

import { acquireLease, memoryStore } from 'idsmith';

const silence = () => new Promise(() => {});
const tell = (what) => (error) => console.log(what, error.code);
const options = { namespace: 'x', size: 1, ttl: 150 };

await acquireLease({ ...memoryStore(), listLeases: silence }, options).catch(tell('acquire'));

const store = memoryStore();
const lease = await acquireLease(store, options);
store.swapLease = silence;
await lease.release().catch(tell('release'));
