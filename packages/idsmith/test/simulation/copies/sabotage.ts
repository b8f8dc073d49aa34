import { Lease, Uuid7Generator } from 'idsmith';
import { Sequence } from '../../../src/sequence/sequence.ts';
import type { Sabotage } from './simulation.ts';

/** A hook that does nothing. */
function withoutFence(type: { readonly prototype: { fence(): void } }): Sabotage {
  return {
    breaks() {
      const { fence } = type.prototype;
      type.prototype.fence = () => {};
      return () => {
        type.prototype.fence = fence;
      };
    },
  };
}

/** What is wrong, by what it is: each must be found out within a few seeds. */
export const SABOTAGES: Readonly<Record<string, Sabotage>> = {
  'a lease does nothing when it is told of a copy': withoutFence(Lease),
  'a sequence does nothing when it is told of a copy': withoutFence(Sequence),
  'a UUIDv7 generator does nothing when it is told of a copy': withoutFence(Uuid7Generator),
  'a store does not tell the attempts of copies to renew a lease apart': { isBlind: true },
};
