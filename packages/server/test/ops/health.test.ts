import { memoryStore, StoreError } from 'idsmith';
import { afterEach, expect, it, vi } from 'vitest';
import { Health } from '../../src/ops/health.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('asks the store at the first check, also in the first second of a process', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(5);
  const broken = {
    ...memoryStore(),
    listLeases: async () => {
      throw new StoreError('the disk is full');
    },
  };
  expect(await new Health(broken, () => []).check()).toMatchObject({ code: 'STORE' });
});
