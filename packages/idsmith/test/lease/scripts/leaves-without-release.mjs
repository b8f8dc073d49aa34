// Mints one id with a lease and does nothing more.
import { acquireLease, FlakeGenerator, memoryStore } from 'idsmith';

process.disconnect?.();
const lease = await acquireLease(memoryStore(), { namespace: 'alone', size: 1 });
console.log(new FlakeGenerator({ node: lease }).nextString());
