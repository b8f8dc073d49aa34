import { duration, padToWidth, visible } from '../text.js';
import type { LayoutName, Origin } from './origin.js';
import type { Repeat, Repeats } from './repeats.js';
import type { Survey } from './survey.js';

/** The most nodes, gaps and repeats in the text for people. `--json` has more. */
const SHOWN = 10;

/** The most nodes and repeats in the JSON. */
const LISTED = 1000;

/** Everything that was found out about a file of ids. */
export interface Findings {
  readonly survey: Survey;
  readonly repeats: Repeats;
  /** The layout by which numbers were read. */
  readonly layout: LayoutName | undefined;
  /** The other presets that fit. */
  readonly otherLayouts: readonly LayoutName[];
  originOf(id: string): Origin | undefined;
}

/** The number of lines with an id that is in an earlier line. */
export function surplusOf({ list }: Repeats): number {
  return list.reduce((sum, { count }) => sum + count - 1, 0);
}

/** The findings for `--json`. */
export function toJson(findings: Findings): object {
  const { survey, repeats, layout, otherLayouts } = findings;
  const { firstStepBack, times, nodes } = survey;
  return {
    ids: survey.ids,
    unreadable: { count: survey.unreadableCount, first: survey.unreadable.map(({ number }) => number) },
    families: Object.fromEntries(survey.families),
    ...(layout !== undefined && { layout, otherLayouts }),
    order: {
      ascending: survey.stepsBack === 0,
      stepsBack: survey.stepsBack,
      ...(firstStepBack && {
        first: {
          line: firstStepBack.line.number,
          id: firstStepBack.line.text,
          after: firstStepBack.before.text,
        },
      }),
    },
    time: withIso(times.range),
    gaps: times.longest(SHOWN).map(({ from, to, ms }) => ({ ...withIso({ from, to }), ms })),
    nodes: {
      count: nodes.size,
      complete: survey.isEveryNode,
      list: nodesBySize(survey)
        .slice(0, LISTED)
        .map(({ node, ids, first, last }) => ({ node, ids, ...withIso({ first, last }) })),
    },
    repeats: {
      ids: repeats.list.length,
      surplusLines: surplusOf(repeats),
      complete: repeats.isComplete,
      list: repeats.list.slice(0, LISTED).map((repeat) => ({ ...repeat, ...originJson(findings, repeat) })),
    },
  };
}

function originJson({ originOf, layout }: Findings, { id }: Repeat): object {
  const origin = originOf(id);
  if (origin === undefined) return {};
  return {
    ...origin,
    ...(origin.family === 'flake' && { layout }),
    ...(origin.timestamp !== undefined && { iso: iso(origin.timestamp) }),
  };
}

/** The findings for people. */
export function toLines(findings: Findings): string[] {
  const { survey, repeats, layout, otherLayouts } = findings;
  const { range } = survey.times;
  const others =
    otherLayouts.length > 0 ? ` (fits also: ${otherLayouts.join(', ')}; choose with --layout)` : '';
  const families = [...survey.families].map(([family, ids]) => `${number(ids)} ${family}`).join(', ');
  return [
    row('ids', `${number(survey.ids)}${families === '' ? '' : `: ${families}`}`),
    ...(layout === undefined ? [] : [row('layout', layout + others)]),
    ...(survey.unreadableCount === 0 ? [] : [row('not ids', unreadableText(survey))]),
    row('order', orderText(survey)),
    ...(range === undefined ? [] : [row('time', `${iso(range.first)} to ${iso(range.last)}`)]),
    ...survey.times
      .longest(3)
      .map(({ from, to, ms }) => row('gap', `${spanText(ms)} without ids, ${iso(from)} to ${iso(to)}`)),
    ...(survey.nodes.size === 0 ? [] : nodeLines(survey)),
    ...repeatLines(findings, repeats),
  ];
}

function unreadableText({ unreadableCount, unreadable }: Survey): string {
  const lines = unreadable.map((line) => line.number).join(', ');
  return `${number(unreadableCount)}, line ${lines}${unreadableCount > unreadable.length ? ' …' : ''}`;
}

function orderText({ stepsBack, firstStepBack }: Survey): string {
  if (firstStepBack === undefined) return 'ascending';
  const { line, before } = firstStepBack;
  return `${counted(stepsBack, 'step')} back, the first at line ${line.number}: ${line.text} after ${before.text}`;
}

function nodeLines(survey: Survey): string[] {
  const sorted = nodesBySize(survey);
  const lines = sorted
    .slice(0, SHOWN)
    .map(({ node, ids, first, last }) =>
      row('node', `${node}: ${counted(ids, 'id')}, ${iso(first)} to ${iso(last)}`),
    );
  const rest = sorted.length - SHOWN;
  const more = survey.isEveryNode ? number(rest) : `more than ${number(rest)}`;
  return rest > 0 ? [...lines, row('', `and ${more} other nodes`)] : lines;
}

function repeatLines(findings: Findings, repeats: Repeats): string[] {
  const { list, isComplete } = repeats;
  if (list.length === 0) return [row('repeats', 'none')];
  const count = `${isComplete ? '' : 'more than '}${number(list.length)}`;
  const lines = list.slice(0, SHOWN).map((repeat) => row('', repeatText(findings, repeat)));
  const rest = list.length - SHOWN;
  return [
    row('repeats', count),
    ...lines,
    ...(rest > 0 ? [row('', `and ${number(rest)} other ids; --json lists up to ${number(LISTED)}`)] : []),
  ];
}

function repeatText({ originOf }: Findings, { id, count, lines }: Repeat): string {
  const { node, timestamp, sequence } = originOf(id) ?? {};
  const places = `${lines.slice(0, SHOWN).join(', ')}${count > SHOWN ? ' …' : ''}`;
  const origin = [
    ...(node === undefined ? [] : [`node ${node}`]),
    ...(timestamp === undefined ? [] : [`${iso(timestamp)} (${timestamp})`]),
    ...(sequence === undefined ? [] : [`sequence ${sequence}`]),
  ].join(', ');
  return `${id} ${count} times, lines ${places}${origin === '' ? '' : `: ${origin}`}`;
}

function nodesBySize({ nodes }: Survey) {
  return [...nodes.values()].sort((a, b) => b.ids - a.ids);
}

/** Times as Unix milliseconds and, with `Iso` in the name, as text. */
function withIso(times: Readonly<Record<string, number>> | undefined): object | undefined {
  if (times === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(times).flatMap(([name, ms]) => [
      [name, ms],
      [`${name}Iso`, iso(ms)],
    ]),
  );
}

const row = (label: string, text: string) => `${padToWidth(label, 9)}${visible(text)}`.trimEnd();
const counted = (count: number, noun: string) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
const number = (value: number) => value.toLocaleString('en');
const iso = (ms: number) => new Date(ms).toISOString();
const spanText = (ms: number) => (ms < 1000 ? `${ms} ms` : duration(ms / 1000));
