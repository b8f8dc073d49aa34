import { InvalidIdError, InvalidOptionError } from '../errors.js';
import { refuse, requireChoice, requireKnown, show } from '../options.js';
import { type StandardSchema, standardSchema } from '../support/standard-schema.js';
import { type Form, KEY_IDS, LENGTHS, SHORT_KEY_IDS } from './form.js';
import { int64Form } from './int64-form.js';
import { type Keyring, requireKeys } from './keys.js';
import { shortForm } from './short-form.js';
import { uuidForm } from './uuid-form.js';

/** The text of a public id with a prefix: `PublicId<'ord'>` is `` `ord_${string}` ``. */
export type PublicId<Prefix extends string> = `${Prefix}_${string}`;

/** The ids inside public ids: numbers of 64 bits (flakes, sequence numbers), or UUIDs of any version. */
export type PublicContent = 'int64' | 'uuid';

/** Options of {@link publicIds}. */
export interface PublicIdOptions<Prefix extends string, Of extends PublicContent = 'int64'> {
  /** 1 to 63 letters `a` to `z` and underscores, with a letter at both ends: the rules of TypeID. */
  readonly prefix: Prefix;
  /** The keys by their ids, 0 to 127 (0 to 9 if short). A key has 32 bytes: as bytes, as hex digits or as base64. */
  readonly keys: Readonly<Record<number, Uint8Array | string>>;
  /** The id of the key that encodes. All keys decode. Default the highest id. */
  readonly current?: number | undefined;
  /** Default `'int64'`. */
  readonly of?: Of | undefined;
  /** True for texts of 13 characters after the prefix, which are easier to forge. Default false. */
  readonly short?: boolean | undefined;
}

/** Makes and reads the public ids of one prefix. It is also a Standard Schema, which validates texts. */
export interface PublicIds<Prefix extends string, Of extends PublicContent = 'int64'>
  extends StandardSchema<string, PublicId<Prefix>> {
  readonly prefix: Prefix;
  readonly of: Of;
  /**
   * The public id of an id: always the same text while the key is the same.
   *
   * @throws InvalidIdError when `id` is not a bigint or decimal text of 64 bits, or not a UUID
   */
  encode(id: bigint | string): PublicId<Prefix>;
  /**
   * The id in a public id: a bigint, or a UUID in lower case.
   *
   * @throws InvalidIdError when the text was not made with this prefix and one of the keys
   */
  decode(text: string): Of extends 'uuid' ? string : bigint;
  /** True if `text` was made with this prefix and one of the keys. Never throws. */
  is(text: unknown): text is PublicId<Prefix>;
}

const OPTION_NAMES = ['prefix', 'keys', 'current', 'of', 'short'];

/**
 * Makes ids for the outside: nobody without the key reads, guesses, sorts or changes them.
 *
 * @example
 * const orders = publicIds({ prefix: 'ord', keys: { 1: secret } });
 * const text = orders.encode(1703865194431643648n); // 'ord_…'
 * orders.decode(text); // 1703865194431643648n
 *
 * @throws InvalidOptionError naming the first option that is wrong. Messages never show a key.
 */
export function publicIds<const Prefix extends string, Of extends PublicContent = 'int64'>(
  options: PublicIdOptions<Prefix, Of>,
): PublicIds<Prefix, Of> {
  requireKnown('options', options, OPTION_NAMES);
  const prefix = requirePrefix(options.prefix);
  const of = requireChoice<PublicContent>('of', options.of, ['int64', 'uuid']) as Of;
  const isShort = requireChoice('short', options.short, [false, true]);
  if (isShort && of === 'uuid')
    throw new InvalidOptionError(
      'short: true does not work with of: "uuid": 13 characters have no room for a UUID',
    );
  const ring = requireKeys(options.keys, options.current, isShort ? SHORT_KEY_IDS - 1 : KEY_IDS - 1);
  const make = isShort ? shortForm : of === 'uuid' ? uuidForm : int64Form;
  const form = make(prefix, ring) as Form<bigint | string>;
  const decode = (text: unknown) => open(text, prefix, form, ring) as Of extends 'uuid' ? string : bigint;
  const ids: PublicIds<Prefix, Of> = {
    prefix,
    of,
    encode: (id) => form.seal(id) as PublicId<Prefix>,
    decode,
    is(text): text is PublicId<Prefix> {
      try {
        decode(text);
        return true;
      } catch {
        return false;
      }
    },
    ...standardSchema<string, PublicId<Prefix>>((text) => {
      decode(text);
      return text as PublicId<Prefix>;
    }),
  };
  return Object.freeze(ids);
}

function requirePrefix<Prefix extends string>(prefix: Prefix): Prefix {
  if (typeof prefix === 'string' && /^[a-z]([a-z_]{0,61}[a-z])?$/.test(prefix)) return prefix;
  refuse('prefix', '1 to 63 letters a to z and underscores, with a letter at both ends', prefix);
}

function open(
  text: unknown,
  prefix: string,
  form: Form<bigint | string>,
  { keys }: Keyring,
): bigint | string {
  const fail = (reason: string): never => {
    throw new InvalidIdError(`${show(text)} is not a public id of ${show(prefix)}: ${reason}`);
  };
  if (typeof text !== 'string') return fail('it is not text');
  const start = prefix.length + 1;
  if (!text.startsWith(`${prefix}_`)) return fail(`it does not begin with ${prefix}_`);
  if (text.length !== start + form.length) return fail(`it must have ${start + form.length} characters`);
  const sealed = form.parse(text.slice(start));
  if (sealed === undefined) return fail(`it has a character that is not one of ${characters(form)}`);
  if (!keys.has(sealed.keyId)) return fail(`it names key ${sealed.keyId}, which is not among the keys`);
  return sealed.open() ?? fail('it was changed, or made with another key or for another prefix');
}

function characters({ length }: Form<unknown>): string {
  return length === LENGTHS.short ? '0-9, A-Z and a-z' : '0-9 and a-z without i, l, o and u';
}
