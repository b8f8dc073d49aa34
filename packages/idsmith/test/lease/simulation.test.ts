import { describeKind } from '../simulation/describe-kind.ts';
import { SABOTAGES, simulateLeases } from './simulation/index.ts';

describeKind({
  simulate: simulateLeases,
  subject: 'leases and generators',
  law: ', and resume when faults end',
  seeds: 150,
  sabotages: SABOTAGES,
  shownBy: {
    'a generator begins before its window': 6,
    'a locality generator stays where it was when its window is replaced': 593,
    'a client with a lower limit founds a namespace that it never saw': 26,
    'a generator is not closed on release': 107,
    'a release tells less than was used': 268,
    'a holder takes a copy of itself for itself': 38,
    'a store says yes to a renewal and does not keep it': 29,
    'a store does not keep the fence of what is released': 38,
    'a store that can forget says that it cannot': 267,
    'a newcomer does not wait after its store went back': 265,
    'a store that goes back tells the same lineage': 735,
    'a store comes back as it was some time ago': 157,
  },
});
