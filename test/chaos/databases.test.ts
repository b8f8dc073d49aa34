import { shortRuns } from './short-runs.ts';

await shortRuns('sqlite', 'postgres', 'mariadb');
