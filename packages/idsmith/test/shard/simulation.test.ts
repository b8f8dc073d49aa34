import { describeKind } from '../simulation/describe-kind.ts';
import { SABOTAGES, simulateKeys } from './simulation/index.ts';

describeKind({
  simulate: simulateKeys,
  subject: 'keys',
  law: ', and resume when faults end',
  seeds: 80,
  sabotages: SABOTAGES,
  shownBy: {
    'a node does not notice that it was restarted': 88,
    'a node that lost its sequence begins at its clock': 21,
    'a set that took over mints the variants of a set that began': 184,
    'a set trusts its other nodes for ever': 335,
    'a hand-over begins where the clock is': 169,
    'a node gives the same keys again when no answer has come': 23,
  },
});
