import { asciiText } from '#runtime';
import { writeBase32 } from '../encoding/base32.js';
import { readUuidText, writeUuidText } from '../encoding/uuid-text.js';
import { InvalidIdError } from '../errors.js';
import { show } from '../options.js';
import { writeIds } from '../uuid7/forms.js';
import { claimRun } from '../uuid7/process-line.js';
import { uuid7 } from '../uuid7/uuid7.js';
import { headOf, requireTypeId, SUFFIX_LENGTH, type TypeIdText, typeIdBytes } from './form.js';

/** The parts of a typed id. */
export interface TypeIdParts {
  readonly prefix: string;
  /** The UUID inside, in lower case. */
  readonly uuid: string;
  /** The time of the UUID if it has version 7. */
  readonly time: Date | undefined;
}

/** Makes and reads the typed ids of one prefix. */
export interface TypeIds<P extends string> {
  readonly prefix: P;
  /** A new typed id. Its UUID has version 7, and is larger than that of every typed id that this thread made before. */
  next(): TypeIdText<P>;
  /** True for the text of a typed id with this prefix. Never throws. */
  is(text: unknown): text is TypeIdText<P>;
  /** @throws InvalidIdError when `text` is not a typed id, or has another prefix */
  parse(text: string): TypeIdParts;
  /** The UUID inside, in lower case. Errors as {@link parse} has them. */
  toUuid(text: string): string;
  /**
   * The typed id of a UUID of any version.
   *
   * @throws InvalidIdError when `uuid` is not the text of a UUID
   */
  fromUuid(uuid: string): TypeIdText<P>;
  /**
   * The lowest typed id of that millisecond, for `id >= …`.
   *
   * @throws InvalidOptionError when `time` is not a date or a number of Unix milliseconds from 0 to 2^48 − 1
   */
  min(time: Date | number): TypeIdText<P>;
  /** The highest typed id of that millisecond, for `id <= …`. Errors as {@link min} has them. */
  max(time: Date | number): TypeIdText<P>;
}

/**
 * Typed ids, as the TypeID specification 0.3 has them: a prefix and a UUID of version 7 in base 32.
 *
 * @param prefix 0 to 63 letters from a to z and underscores, with a letter at both ends
 * @throws InvalidOptionError when the prefix has another form
 *
 * @example
 * const users = typeIds('user');
 * users.next(); // 'user_01h455vb4pex5vsknk084sn02q'
 */
export function typeIds<P extends string>(prefix: P): TypeIds<P> {
  const head = headOf(prefix);
  const ascii = Uint8Array.from(head + ' '.repeat(SUFFIX_LENGTH), (character) => character.charCodeAt(0));
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);

  /** The typed id of the UUID in `bytes`. */
  const print = () => {
    writeBase32(ascii, head.length, 0, 2, bytes);
    return asciiText(ascii, ascii.length) as TypeIdText<P>;
  };

  const fromUuid = (uuid: string) => {
    if (typeof uuid !== 'string' || !readUuidText(uuid, bytes))
      throw new InvalidIdError(`${show(uuid)} is not a UUID`);
    return print();
  };

  const toUuid = (text: string) => writeUuidText(requireTypeId(text, head));

  return {
    prefix,
    next() {
      const { run, words, first } = claimRun(Date.now(), 1);
      writeIds(view, 0, run, 1, words, first);
      return print();
    },
    is: (text): text is TypeIdText<P> => typeIdBytes(text, head) !== undefined,
    parse(text) {
      const uuid = toUuid(text);
      const isTimed = uuid[14] === '7' && '89ab'.includes(uuid[19] as string);
      return { prefix, uuid, time: isTimed ? uuid7.timeOf(uuid) : undefined };
    },
    toUuid,
    fromUuid,
    min: (time) => fromUuid(uuid7.min(time)),
    max: (time) => fromUuid(uuid7.max(time)),
  };
}
