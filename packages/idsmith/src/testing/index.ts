export type { ConformanceCase, ConformanceOptions } from './conformance.js';
export { FakeClock } from './fake-clock.js';
export { FakeTime } from './fake-time.js';
export { leaseStoreCases } from './lease-cases.js';
export { sequenceStoreCases } from './sequence-cases.js';
