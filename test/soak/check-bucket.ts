import { momentOf, RECORD_BYTES, readRecord } from './record.ts';

/** What is wrong with the ids of a bucket. */
export interface BucketFindings {
  /** How many records have an id that an earlier record has. */
  readonly duplicates: number;
  /** How many moments of a node id two sources have used: their windows overlapped, by chance without a duplicate. */
  readonly sharedMoments: number;
  /** A line for each of the first few. */
  readonly problems: readonly string[];
}

/** How many problems of a bucket are described. */
const SHOWN = 5;

/** Looks at every id of a bucket, exactly. */
export function checkBucket(bytes: Uint8Array): BucketFindings {
  const sources = new Map<bigint, number>();
  const users = new Map<string, number>();
  const shared = new Set<string>();
  const problems: string[] = [];
  const tell = (problem: string) => problems.length < SHOWN && problems.push(problem);
  let duplicates = 0;
  for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
    const record = readRecord(bytes, at);
    const { family, source, id } = record;
    const other = sources.get(id);
    if (other === undefined) sources.set(id, source);
    else {
      duplicates++;
      tell(`${family} 0x${id.toString(16)} was handed out by ${other} and again by ${source}`);
    }
    const moment = momentOf(record);
    if (moment === undefined) continue;
    const key = `${moment.node}@${moment.time}`;
    const user = users.get(key) ?? source;
    users.set(key, user);
    if (user === source || shared.has(key)) continue;
    shared.add(key);
    const when = new Date(moment.time).toISOString();
    tell(`${family}: ${user} and ${source} both used node ${moment.node} at ${when}`);
  }
  return { duplicates, sharedMoments: shared.size, problems };
}
