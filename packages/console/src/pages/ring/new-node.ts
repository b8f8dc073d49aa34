import { MAX_WEIGHT, type ShardNode } from '@idsmith/shard/ring';
import { typedNumber } from '../../lib/typed-number.js';
import { FormError } from '../../ui/use-submit.js';

interface NodeText {
  readonly host: string;
  readonly port: string;
  readonly weight: string;
}

/**
 * The node that the user typed.
 *
 * @throws FormError with an error for every wrong field
 */
export function newNode(text: NodeText, others: readonly ShardNode[]): { ringName: string; weight: number } {
  const errors: Record<string, string> = {};
  const number = (field: 'port' | 'weight', label: string, most: number) => {
    const typed = typedNumber(label, text[field]);
    const value = 'error' in typed ? undefined : typed.value;
    if (value !== undefined && value >= 1 && value <= most) return value;
    errors[field] = `${label} must be a whole number from 1 to ${most}.`;
    return 0;
  };
  const host = text.host.trim();
  const port = number('port', 'The port', 65_535);
  const weight = number('weight', 'The weight', MAX_WEIGHT);
  const address = `${host}:${port}`;
  if (host === '' || /[\s\0]/.test(host)) errors.host = 'Enter a host without spaces.';
  else if (others.some((node) => node.address === address || node.ringName === address))
    errors.host = `${address} is already on the ring.`;
  if (Object.keys(errors).length > 0) throw new FormError(errors);
  return { ringName: address, weight };
}
