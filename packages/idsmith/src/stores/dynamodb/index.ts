export type { DynamodbClient } from './client.js';
export { type DynamodbStoreOptions, dynamodbStore } from './store.js';
