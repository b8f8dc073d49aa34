export type { ConformanceCase, ConformanceOptions } from './conformance.js';
export { FakeClock, FakeTime } from './fake-time.js';
export { leaseStoreCases } from './lease-cases.js';
export { sequenceStoreCases } from './sequence-cases.js';
