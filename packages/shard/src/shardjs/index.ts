export {
  type GenKeyCallback,
  init,
  type Shardjs,
  type ShardjsConfig,
  type ShardjsFilter,
} from './shardjs.js';
