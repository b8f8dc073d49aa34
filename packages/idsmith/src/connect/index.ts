export { connect, Ids } from './ids.js';
export type {
  ConnectOptions,
  FlakesOptions,
  IdsStatus,
  LeasedLocalityOptions,
  LeasedUuid7Options,
  LeaseStatus,
  MissingLease,
  SequenceOpening,
} from './options.js';
