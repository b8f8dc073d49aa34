export { type IoredisClient, type NodeRedisClient, type RedisStoreOptions, redisStore } from './store.js';
