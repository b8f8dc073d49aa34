// Two lanes of load, one right after the other, in many short rounds: what else the machine does meanwhile is the same for both.

import autocannon from 'autocannon';

const SECONDS = 1;
export const CONNECTIONS = 50;

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

/** One round of load; whatever is not a success disqualifies. */
async function load({ server, path }) {
  const before = server.cpuSeconds();
  const url = server.url + path;
  const result = await autocannon({ url, method: 'POST', connections: CONNECTIONS, duration: SECONDS });
  const failed = result.errors + result.timeouts + result.non2xx;
  if (failed > 0) throw new Error(`${url}: ${failed} requests failed`);
  const { requests, duration, latency } = result;
  const cpu = ((server.cpuSeconds() - before) / requests.total) * 1e6;
  return { rate: requests.total / duration, cpu, latency };
}

/** Loads both lanes of every pair in each round. The lane that was first comes second in the next round. */
export async function loadPairs(pairs, rounds) {
  for (const { lane, base } of pairs) for (const each of [lane, base]) await load(each);
  for (const pair of pairs) pair.rounds = [];
  for (let round = 0; round < rounds; round++)
    for (const pair of pairs) {
      const order = round % 2 === 0 ? ['base', 'lane'] : ['lane', 'base'];
      const results = {};
      for (const which of order) results[which] = await load(pair[which]);
      pair.rounds.push(results);
    }
}

/** The lane against its base: the median of the ratios of all rounds, by requests a second and by processor time. */
export function ratiosOf({ rounds }) {
  return {
    rate: median(rounds.map(({ lane, base }) => lane.rate / base.rate)),
    cpu: median(rounds.map(({ lane, base }) => base.cpu / lane.cpu)),
  };
}

/** The medians of every lane. A base of several pairs is listed once, with the rounds of all of them. */
export function rowsOf(pairs) {
  const all = pairs.flatMap(({ base, lane, rounds }) => [
    { ...base, rounds: rounds.map((round) => round.base) },
    { ...lane, rounds: rounds.map((round) => round.lane) },
  ]);
  return [...new Set(all.map(({ name }) => name))].map((name) => {
    const same = all.filter((each) => each.name === name);
    const rounds = same.flatMap((each) => each.rounds);
    const rate = median(rounds.map((round) => round.rate));
    const cpu = median(rounds.map((round) => round.cpu));
    const at = (share) => median(rounds.map(({ latency }) => latency[share]));
    return { name, rate, ids: rate * same[0].ids, cpu, p50: at('p50'), p99: at('p99'), p999: at('p99_9') };
  });
}
