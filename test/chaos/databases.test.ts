import { shortRuns } from './short-runs.ts';

await shortRuns('postgres');
