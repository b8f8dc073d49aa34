// Which charts a benchmark has, from what it has saved.

import { box, picture, text, WIDTH } from '../diagrams/svg.mjs';

const NAME = 250;
const ROW = 24;
const TOP = 34;

/** The charts of a benchmark: `{ file, title, svg }`. */
export function chartsOf(name, data) {
  return seriesOf(name, data).map(({ key, title, bars }) => ({
    title,
    file: `${name}-${key}.svg`,
    svg: chart(title, bars),
  }));
}

function seriesOf(name, data) {
  if (name === 'server') {
    const bars = data.results.map((result) => ({ name: result.name, value: result.rate }));
    return [{ key: 'rates', title: 'Requests a second', bars }];
  }
  if (name === 'reshard') {
    const bars = Object.entries(data.rates).map(([contender, rates]) => ({
      name: contender,
      value: median(rates),
    }));
    return [{ key: 'rates', title: 'Keys moved in a second', bars }];
  }
  // Whatever was measured by the harness: lists of contenders with nanoseconds.
  return Object.entries(data)
    .filter(([, list]) => Array.isArray(list) && list[0]?.nanoseconds !== undefined)
    .map(([key, list]) => ({
      key,
      title: `${name}${key === 'results' ? '' : `, ${key}`}: millions a second`,
      bars: list.map((result) => ({
        name: result.name,
        value: 1000 / result.nanoseconds,
        isOurs: isOurs(result),
      })),
    }));
}

/** Our own lines have no package in front. */
const isOurs = ({ name }) =>
  /^(next|batch|fill|take|await next|encode|decode|fixedKey|virtualShardOf|toDecimalString|nodeOf|share)/.test(
    name,
  );

function chart(title, bars) {
  const most = Math.max(...bars.map(({ value }) => value));
  const scale = (WIDTH - NAME - 90) / most;
  const body = bars.flatMap(({ name, value, isOurs: ours = /^(POST|reshard)/.test(name) }, i) => {
    const y = TOP + i * ROW;
    return [
      text(NAME - 8, y + 13, name, { anchor: 'end' }),
      box(NAME, y, Math.max(1, value * scale), 17, ours ? 'first' : 'version'),
      text(NAME + value * scale + 6, y + 13, shown(value), { of: 'small' }),
    ];
  });
  return picture(title, TOP + bars.length * ROW + 6, [text(0, 18, title), ...body]);
}

export const shown = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(value >= 10 ? 3 : 2);

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
