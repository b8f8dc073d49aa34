import type { NamespaceJson, SequenceJson, ServerJson } from '../api/types.js';
import { digits, percent, span } from './format.js';
import { shortName } from './visible-text.js';

// What an operator should look at, with what to do. Pure.

/** A matter that somebody should look at. */
export interface Warning {
  readonly isUrgent: boolean;
  readonly what: string;
  /** The way out. */
  readonly action: string;
  /** The page with more, and the text after its name. */
  readonly page: 'sequences' | 'leases' | 'health';
  readonly rest: string;
}

interface State {
  readonly server: ServerJson | undefined;
  /** The sequences that end first. */
  readonly sequences: readonly SequenceJson[];
  readonly namespaces: readonly NamespaceJson[];
}

/** A sequence that ends sooner than this is a warning, seconds. */
const SOON = 90 * 86_400;

/** A larger share of node ids in use is a warning. */
const FULL = 0.8;

/** A token that ends sooner than this is a warning, ms. */
const TOKEN_SOON = 14 * 86_400_000;

/** Everything that needs attention, the urgent first. */
export function warningsOf({ server, sequences, namespaces }: State, now: number): Warning[] {
  const warnings: Warning[] = [];
  if (server?.ready)
    warnings.push({
      isUrgent: true,
      what: `The server is not ready: ${server.ready.detail}.`,
      action: 'The log of the server has the reason as the event “not ready”.',
      page: 'health',
      rest: '',
    });
  for (const sequence of sequences) warnings.push(...sequenceWarnings(sequence));
  for (const { namespace, held, size } of namespaces)
    if (size !== null && held / size > FULL)
      warnings.push({
        isUrgent: held >= size,
        what: `${percent(held / size)} of the node ids of ${shortName(namespace)} are held: ${digits(held)} of ${digits(size)}.`,
        action:
          'Look for holders that no longer run. More node ids need a layout and a namespace of their own.',
        page: 'leases',
        rest: namespace,
      });
  const expires = server?.token?.expires ?? null;
  if (expires !== null && expires - now < TOKEN_SOON)
    warnings.push({
      isUrgent: false,
      what: `The token of this tab ends in ${span(expires - now)}.`,
      action: 'idsmith token create makes another one.',
      page: 'health',
      rest: '',
    });
  return warnings.sort((a, b) => Number(b.isUrgent) - Number(a.isUrgent));
}

function sequenceWarnings({ name, exhausted, stranded = '0', blockSize, forecast }: SequenceJson): Warning[] {
  const place = { page: 'sequences', rest: name } as const;
  if (exhausted)
    return [
      {
        ...place,
        isUrgent: true,
        what: `Sequence ${shortName(name)} is exhausted and refuses every request${stranded === '0' ? '' : `: ${digits(stranded)} ids are left, and a block needs ${digits(blockSize)}`}.`,
        action: stranded === '0' ? 'Raise its highest id.' : 'Lower its block size, or raise its highest id.',
      },
    ];
  const seconds = forecast?.seconds ?? null;
  if (seconds === null || seconds > SOON) return [];
  return [
    {
      ...place,
      isUrgent: seconds < 7 * 86_400,
      what: `Sequence ${shortName(name)} ends in ${span(seconds * 1000)} at its present rate (confidence ${forecast?.confidence}).`,
      action: 'Raise its highest id while there is time, or plan a wider column.',
    },
  ];
}
