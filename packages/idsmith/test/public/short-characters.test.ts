import { describe, expect, it } from 'vitest';
import { invalid, orders } from './set-up.ts';

describe('a short public id', () => {
  it.each(['-', ' ', '_', 'é', '\0'])('with the character %j in any place is refused', (character) => {
    const ids = orders({ short: true });
    const text = ids.encode(42n);
    for (let i = 'ord_'.length; i < text.length; i++) {
      const wrong = text.slice(0, i) + character + text.slice(i + 1);
      expect(() => ids.decode(wrong)).toThrow(invalid);
      expect(() => ids.decode(wrong)).toThrow('it has a character that is not one of 0-9, A-Z and a-z');
    }
  });
});
