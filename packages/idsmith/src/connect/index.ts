export { connect } from './connect.js';
export { Ids } from './ids.js';
export type {
  ConnectOptions,
  FlakesOptions,
  IdsStatus,
  LeasedLocalityOptions,
  LeasedUuid7Options,
  LeaseStatus,
  SequenceOpening,
} from './options.js';
