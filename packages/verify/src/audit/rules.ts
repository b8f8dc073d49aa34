/** The promises that a store must keep. Each has a text for operators. */
const RULES = {
  unique: {
    broken: 'an id came twice',
    lookAt: 'stop minting with this store. The other broken rules of this run, if any, name the reason',
  },
  kept: {
    broken: 'the store forgot a change that it had confirmed, and went back to an older state',
    lookAt:
      'a failover to an asynchronous replica, a backup that was restored, a server that confirms before it writes to disk ' +
      '(synchronous_commit, fsync, innodb_flush_log_at_trx_commit, appendfsync), a cache before the store',
  },
  present: {
    broken: 'a record that the store had confirmed is gone',
    lookAt:
      'eviction (on Redis: maxmemory-policy noeviction), an expiry of keys or rows, a job that deletes old data, a store that restarted empty',
  },
  compared: {
    broken: 'the store replaced a record that was no longer the expected one',
    lookAt:
      'writes to more than one primary, weak isolation, a cache or a proxy that answers for the store, a store of your own ' +
      'whose swap does not compare and write in one atomic step',
  },
  fresh: {
    broken: 'a read returned an older state than the one that the store had confirmed before',
    lookAt: 'read replicas, a cache, eventually consistent reads: the URL must lead to the primary server',
  },
  exact: {
    broken: 'a number came back changed',
    lookAt:
      'the types of columns (BIGINT, not DOUBLE or FLOAT), settings of the driver for large numbers, a proxy that parses JSON numbers',
  },
  once: {
    broken: 'a request was carried out twice, or its answer was the opposite of what happened',
    lookAt: 'proxies, load balancers and drivers that send a request again: switch their retries off',
  },
  clock: {
    broken: "the store's clock and the clock of this machine disagree",
    lookAt: 'NTP on both machines. On a store of several servers, the clock of each of them',
  },
  behaviour: {
    broken: 'the store does not behave as every store must',
    lookAt:
      'docs/stores.md, the section of this store. For a store of your own, run the suites of idsmith/testing',
  },
  service: {
    broken: 'processes could not mint',
    lookAt: 'the messages above, the rights of the user in the URL, and the log of the store',
  },
} as const;

export type Rule = keyof typeof RULES;

/** One way in which a rule was broken. */
export interface Finding {
  readonly rule: Rule;
  /** What happened, with values and moments. */
  readonly detail: string;
}

/** A broken rule, for people. */
export interface BrokenRule {
  readonly rule: Rule;
  /** The rule that was broken, in words. */
  readonly broken: string;
  readonly lookAt: string;
  /** The number of findings. */
  readonly count: number;
  /** The first few findings. */
  readonly details: readonly string[];
}

/** The most findings of a rule that are shown. */
const SHOWN = 3;

/** The findings by rule, the worst rule first. */
export function brokenRules(findings: readonly Finding[]): BrokenRule[] {
  return (Object.keys(RULES) as Rule[]).flatMap((rule) => {
    const details = findings.filter((finding) => finding.rule === rule).map(({ detail }) => detail);
    return details.length === 0
      ? []
      : [{ rule, ...RULES[rule], count: details.length, details: details.slice(0, SHOWN) }];
  });
}
