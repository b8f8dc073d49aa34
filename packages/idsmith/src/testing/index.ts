export { FakeClock } from './fake-clock.js';
export { FakeTime } from './fake-time.js';
export { type ConformanceCase, leaseStoreCases } from './lease-cases.js';
