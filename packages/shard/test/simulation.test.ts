import { describeKind } from '../../idsmith/test/simulation/describe-kind.ts';
import { SABOTAGES, simulateKeys } from './simulation/index.ts';

describeKind({
  simulate: simulateKeys,
  subject: 'keys',
  law: ', and resume when faults end',
  seeds: 80,
  sabotages: SABOTAGES,
  shownBy: {
    'a node does not notice that it was restarted': 43,
    'a node that lost its sequence begins at its clock': 53,
    'a set that took over mints the variants of a set that began': 357,
    'nodes without proofs mint the same variants in all sets': 452,
    'a handover leaves its new nodes to others until it opens them': 3204,
    'a set that is to take over begins by itself': 126,
    'a set trusts its other nodes for ever': 1212,
    'a handover takes a node for closed that is not': 2,
    'a handover begins where the clock is': 77,
    'a node gives the same keys again when no answer has come': 23,
  },
});
