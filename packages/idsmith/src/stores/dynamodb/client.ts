/** The part of a client that the store uses. A `DynamoDBClient` of the package `@aws-sdk/client-dynamodb` has it. */
export interface DynamodbClient {
  send(command: never, options?: { abortSignal?: AbortSignal }): Promise<unknown>;
  /** A client with this member gives access to its responses, and so tells the time of the service. */
  readonly middlewareStack?: object;
}
