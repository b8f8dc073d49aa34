export type { IoredisClient, NodeRedisClient } from '../../redis/evaluate.js';
export { type RedisStoreOptions, redisStore } from './store.js';
