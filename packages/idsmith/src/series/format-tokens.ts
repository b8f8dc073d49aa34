import { InvalidOptionError } from '../errors.js';
import { nearestName, show } from '../options.js';

/** A part of a format: fixed text, or a value in braces. */
export interface Token {
  readonly name: TokenName;
  /** The fixed text; empty for a value. */
  readonly literal: string;
  /** The least number of digits. */
  readonly width: number;
  /** True if more digits than `width` are printed where they are needed. */
  readonly widens: boolean;
}

const WIDTHS = { yyyy: 4, yy: 2, q: 1, mm: 2, dd: 2, n: 1, tenant: 0 };

export type TokenName = keyof typeof WIDTHS | 'literal';

/** The widest number that a sequence can have. */
const MAX_WIDTH = 19;

const KNOWN = '{n}, {n:6}, {n:6+}, {yyyy}, {yy}, {q}, {mm}, {dd}, {tenant}';

/**
 * The parts of a format.
 *
 * @throws InvalidOptionError when a token is unknown, is there twice, or `{n}` is missing
 */
export function tokensOf(format: string): Token[] {
  const tokens = [...format.matchAll(/\{([^{}]*)\}|[^{}]+|[{}]/gs)].map(([text, inside]) =>
    inside === undefined ? literalOf(format, text) : fieldOf(format, inside),
  );
  const names = tokens.map(({ name }) => name).filter((name) => name !== 'literal');
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new InvalidOptionError(`format ${show(format)} has {${twice}} twice: each token may come once`);
  if (names.includes('yy') && names.includes('yyyy'))
    throw new InvalidOptionError(`format ${show(format)} has {yy} and {yyyy}: use one of them`);
  if (!names.includes('n'))
    throw new InvalidOptionError(`format ${show(format)} has no number: add {n:6}, or {n} for any width`);
  return tokens;
}

function literalOf(format: string, literal: string): Token {
  if (literal === '{' || literal === '}')
    throw new InvalidOptionError(
      `format ${show(format)} has a ${literal} without its other half: tokens are ${KNOWN}`,
    );
  if (/[\p{Cc}\p{Surrogate}]/u.test(literal))
    throw new InvalidOptionError(
      `format ${show(format)} has a control character: use text that can be printed`,
    );
  return { name: 'literal', literal, width: 0, widens: false };
}

function fieldOf(format: string, inside: string): Token {
  const [, width, plus] = /^n:([1-9]\d?)(\+?)$/.exec(inside) ?? [];
  if (width !== undefined && Number(width) <= MAX_WIDTH)
    return { name: 'n', literal: '', width: Number(width), widens: plus === '+' };
  if (Object.hasOwn(WIDTHS, inside)) {
    const name = inside as keyof typeof WIDTHS;
    return { name, literal: '', width: WIDTHS[name], widens: name === 'n' };
  }
  const nearest = nearestName(inside, Object.keys(WIDTHS));
  const hint = inside.startsWith('n:')
    ? `a width is from 1 to ${MAX_WIDTH}, with or without +`
    : `${nearest === undefined ? '' : `did you mean {${nearest}}? The `}tokens are ${KNOWN}`;
  throw new InvalidOptionError(`format ${show(format)}: unknown token ${show(`{${inside}}`)}; ${hint}`);
}
