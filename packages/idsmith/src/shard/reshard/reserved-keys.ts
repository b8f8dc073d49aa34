/** What a node knows of the resharding it takes part in: a hash. Of no map, and never moved. */
export const STATE = 'idsmith:reshard';
/** On the old owner: the keys somebody is about to take away, each with the number of the latest taking. A hash. */
export const OUT = 'idsmith:reshard:out';
/** On the new owner: the keys that are being brought, each with the number of the latest claim and a digest of the copy. */
export const IN = 'idsmith:reshard:in';

/** Whether a Redis key is one of the above. */
export function isOurs(key: string): boolean {
  return key === STATE || key === OUT || key === IN;
}
