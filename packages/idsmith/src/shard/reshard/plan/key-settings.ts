import { InvalidOptionError } from '../../../errors.js';
import { refuse, show } from '../../../options.js';
import type { ShardMap } from '../../shard-map.js';
import type { ReshardContext } from '../context.js';
import type { PlanOptions } from './plan-options.js';

/** The settings that a resharding keeps from its beginning to its end, above all which keys belong to the maps. */
export interface KeySettings {
  readonly allKeys: boolean;
  /** Numbers of types, besides those in `keyTypes`. */
  readonly types: readonly number[];
  readonly pattern: RegExp | undefined;
  readonly acceptVolatileTarget: boolean;
}

/**
 * Reads the settings from the options. A resharding that has begun has its settings on the nodes. Options that are left out
 * then have the stored values.
 *
 * @param stored the settings on the nodes, as JSON; empty if the resharding has not begun
 * @throws InvalidOptionError naming an option that is wrong, or differs from the stored one
 */
export function readKeySettings(context: ReshardContext, options: PlanOptions, stored = ''): KeySettings {
  const { allKeys, types, pattern, acceptVolatileTarget } = options;
  for (const [name, value] of Object.entries({ allKeys, acceptVolatileTarget }))
    if (value !== undefined && typeof value !== 'boolean') refuse(name, 'true or false', value);
  if (types !== undefined && !Array.isArray(types)) refuse('types', 'a list of types', types);
  if (pattern !== undefined && !(pattern instanceof RegExp))
    refuse('pattern', 'a regular expression', pattern);
  if (allKeys && context.to.isCluster)
    throw new InvalidOptionError(
      'allKeys must be false for a Redis Cluster: other programs have to learn its slots first. Use pattern for further keys',
    );
  const given = {
    allKeys,
    types: types && [...new Set(types.map((type) => typeNumber(context, type)))].sort((a, b) => a - b),
    pattern: pattern && [pattern.source, pattern.flags.replace(/[gy]/g, '')],
  };
  const kept = (stored === '' ? {} : JSON.parse(stored)) as Partial<typeof given & KeySettings>;
  for (const name of ['allKeys', 'types', 'pattern'] as const)
    if (stored !== '' && given[name] !== undefined && !isSame(given[name], kept[name]))
      throw new InvalidOptionError(
        `${name} must stay as it was when the resharding began (${JSON.stringify(kept[name] ?? NONE[name])}): leave the option out`,
      );
  const [source, flags] = given.pattern ?? kept.pattern ?? [];
  return {
    allKeys: given.allKeys ?? kept.allKeys ?? false,
    types: given.types ?? kept.types ?? [],
    pattern: source === undefined ? undefined : new RegExp(source, flags),
    acceptVolatileTarget: acceptVolatileTarget ?? kept.acceptVolatileTarget ?? false,
  };
}

/** The settings as JSON, to be kept on the nodes. */
export function keySettingsText({ pattern, ...rest }: KeySettings): string {
  return JSON.stringify({ ...rest, ...(pattern && { pattern: [pattern.source, pattern.flags] }) });
}

const NONE = { allKeys: false, types: [], pattern: null };

const isSame = (given: unknown, kept: unknown) =>
  JSON.stringify(given) === JSON.stringify(kept ?? (Array.isArray(given) ? [] : false));

/** The number of a type that is given by name or number. */
function typeNumber({ from, to }: ReshardContext, type: unknown): number {
  const named = (map: ShardMap<unknown>) =>
    typeof type === 'string' && Object.hasOwn(map.keyTypes, type) ? map.keyTypes[type] : undefined;
  const value = typeof type === 'number' ? type : (named(from) ?? named(to));
  if (value !== undefined && Number.isInteger(value) && value >= 0 && value < 3844) return value;
  throw new InvalidOptionError(
    `types: ${show(type)} is neither a name in keyTypes nor a number from 0 to 3843`,
  );
}
