import type { LeaseRecord } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { FenceFloors } from '../../src/leases/fence-floors.ts';

const NOW = 1_800_000_000_000;

describe('Floors of fences', () => {
  const free: LeaseRecord = { id: 0, owner: null, epoch: 4, fence: NOW, expiresAt: 0, label: '' };
  const mine = { ...free, owner: 'a', epoch: 5, fence: NOW + 9, expiresAt: NOW + 9 };
  const later = { ...mine, owner: 'a2', fence: NOW + 20, expiresAt: NOW + 20 };

  it('are where the fence was before the holder came, through all its renewals', () => {
    const floors = new FenceFloors();
    floors.record('x', free, mine);
    floors.record('x', mine, later);
    expect(floors.of('x', later)).toBe(NOW);
    expect(floors.of('x', mine)).toBeUndefined();
    expect(floors.of('y', later)).toBeUndefined();
    floors.record('x', later, { ...later, owner: null });
    expect(floors.of('x', later)).toBeUndefined();
  });

  it('are not known of a holder who came, or renewed, elsewhere', () => {
    const floors = new FenceFloors();
    floors.record('x', mine, later);
    expect(floors.of('x', later)).toBeUndefined();
    floors.record('x', free, mine);
    expect(floors.of('x', later)).toBeUndefined();
  });

  it('are forgotten, the oldest first, when there are too many', () => {
    const floors = new FenceFloors();
    for (let id = 0; id <= 10_000; id++) floors.record('x', undefined, { ...mine, id, epoch: 1 });
    expect(floors.of('x', { ...mine, id: 0, epoch: 1 })).toBeUndefined();
    expect(floors.of('x', { ...mine, id: 1, epoch: 1 })).toBe(0);
  });
});
