import { SABOTAGES, simulateCopies } from './copies/index.ts';
import { describeKind } from './describe-kind.ts';

describeKind({
  simulate: simulateCopies,
  subject: 'copies of a process',
  seeds: 60,
  sabotages: SABOTAGES,
  shownBy: {
    'a sequence does nothing when it is told of a copy': 9,
    'a UUIDv7 generator does nothing when it is told of a copy': 10,
  },
});
