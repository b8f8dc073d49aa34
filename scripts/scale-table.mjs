// The tables of docs/scale.md, from counts of the simulator.

/** The renewals of a lease in its ttl. */
const RENEWALS = 3;
/** An item of DynamoDB with a lease, bytes: names and values of its attributes, with a label of 40 characters. */
const ITEM_BYTES = 260;

const whole = (number) => Math.round(number).toLocaleString('en');
const short = (number) => (number < 10 ? number.toFixed(1) : whole(number));

/** A table of Markdown. The first column is text. */
function table(header, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

/** The operations of each part of the story: a second on average and at most, and what they were. */
export function operationsTable(phases) {
  const header = [
    '',
    'minutes',
    'with a lease at the end',
    'operations/s',
    'at most',
    'clock',
    'page',
    'list',
    'swap',
    'records read/s',
  ];
  return table(
    header,
    phases.map(({ name, seconds, operations, peak, active }) => {
      const { now, read, list, swap, listed, onPages } = operations;
      const parts = [now, read, list, swap].map((count) => short(count / seconds));
      const all = short((now + read + list + swap) / seconds);
      return [
        name,
        short(seconds / 60),
        whole(active),
        all,
        whole(peak),
        ...parts,
        short((listed + onPages) / seconds),
      ];
    }),
  );
}

/**
 * The request units of DynamoDB: half a read unit for the clock (an eventually consistent read of an item that does not exist),
 * one for each node id on a page (a consistent read of up to 4 kB), one for every 4 kB of a listing, and a write unit for each
 * swap (an item of up to 1 kB), whether it succeeds or not.
 */
function unitsOf({ now, ids, listed, swap }) {
  return { reads: now / 2 + ids + (listed * ITEM_BYTES) / 4096, writes: swap };
}

/** The units of DynamoDB beside JFlake's formula: generators divided by the seconds between two renewals. */
export function dynamodbTable(phases, ttl) {
  const header = ['', 'writes/s, counted', "writes/s, JFlake's formula", 'read units/s, counted'];
  return table(
    header,
    // While the service is away, it counts nothing.
    phases
      .filter(({ active }) => active > 0)
      .map(({ name, seconds, operations, active }) => {
        const { reads, writes } = unitsOf(operations);
        const formula = active / (ttl / RENEWALS / 1000);
        return [name, short(writes / seconds), short(formula), short(reads / seconds)];
      }),
  );
}
