import { MAX_WEIGHT, type ShardNode } from '@idsmith/shard/ring';
import { typedNumber } from '../../lib/typed-number.js';
import { FormError } from '../../ui/use-submit.js';

interface NodeText {
  readonly host: string;
  readonly port: string;
  readonly weight: string;
}

type Errors = Record<string, string>;

function readNumber(field: string, label: string, text: string, most: number, errors: Errors): number {
  const typed = typedNumber(label, text);
  const value = 'error' in typed ? undefined : typed.value;
  if (value !== undefined && value >= 1 && value <= most) return value;
  errors[field] = `${label} must be a whole number from 1 to ${most}.`;
  return 0;
}

const weightOf = (text: string, errors: Errors) =>
  readNumber('weight', 'The weight', text, MAX_WEIGHT, errors);

function throwIfWrong(errors: Errors): void {
  if (Object.keys(errors).length > 0) throw new FormError(errors);
}

/** The weight that the user typed. @throws FormError if it is none */
export function readWeight(text: string): number {
  const errors: Errors = {};
  const weight = weightOf(text, errors);
  throwIfWrong(errors);
  return weight;
}

/**
 * The node that the user typed.
 *
 * @throws FormError with an error for every wrong field
 */
export function newNode(
  text: NodeText,
  others: readonly Pick<ShardNode, 'address' | 'ringName'>[],
): { ringName: string; weight: number } {
  const errors: Errors = {};
  const host = text.host.trim();
  const port = readNumber('port', 'The port', text.port, 65_535, errors);
  const weight = weightOf(text.weight, errors);
  const address = `${host}:${port}`;
  if (host === '' || /[\s\0]/.test(host)) errors.host = 'Enter a host without spaces.';
  else if (others.some((node) => node.address === address || node.ringName === address))
    errors.host = `${address} is already on the ring.`;
  throwIfWrong(errors);
  return { ringName: address, weight };
}
