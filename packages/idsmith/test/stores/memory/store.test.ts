import { memoryStore } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { describe, it } from 'vitest';

describe('the memory store', () => {
  const store = memoryStore();
  for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
  for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
});
