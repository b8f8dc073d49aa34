import type { ShardNode } from '../../../../idsmith/src/shard/config.js';
import { MAX_WEIGHT } from '../../../../idsmith/src/shard/ring/hash-ring.js';
import { typedNumber } from '../../lib/numbers.js';
import { FormError } from '../../ui/use-submit.js';

interface NodeText {
  readonly host: string;
  readonly port: string;
  readonly weight: string;
}

/**
 * The node that was typed.
 *
 * @throws FormError with every field that is wrong
 */
export function newNode(text: NodeText, others: readonly ShardNode[]): { name: string; weight: number } {
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
  const name = `${host}:${port}`;
  if (host === '' || /[\s\0]/.test(host)) errors.host = 'The host must be text without spaces.';
  else if (others.some((node) => node.name === name)) errors.host = `${name} is on the ring already.`;
  if (Object.keys(errors).length > 0) throw new FormError(errors);
  return { name, weight };
}
