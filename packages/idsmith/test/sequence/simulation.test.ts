import { describeKind } from '../simulation/describe-kind.ts';
import { SABOTAGES, simulateSequences } from './simulation/index.ts';

describeKind({
  simulate: simulateSequences,
  subject: 'sequences',
  law: ', and resume when faults end',
  seeds: 150,
  sabotages: SABOTAGES,
  shownBy: {
    'a store swaps without a look at the mark': 677,
    'a store swaps whatever is there': 9,
    'a store adds to what a client has read': 2,
    'a store answers and forgets': 2,
    'a store does not tell one life of a sequence from the next': 559,
    'a store that goes back tells the same lineage': 25,
    'a ceiling is used before it is old enough': 260,
    'a client gives a tail back again when no answer has come': 62,
  },
});
