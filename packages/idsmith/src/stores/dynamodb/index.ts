export type { DynamodbClient } from './connection.js';
export { type DynamodbStoreOptions, dynamodbStore } from './store.js';
