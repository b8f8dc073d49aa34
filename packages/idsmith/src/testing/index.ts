export { FakeClock } from './fake-clock.js';
export { type ConformanceCase, leaseStoreCases } from './lease-cases.js';
