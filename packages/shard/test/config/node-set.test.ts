import { describe, expect, it } from 'vitest';
import { nodeSetOf } from '../../src/config/node-set.ts';

describe('A node set', () => {
  const of = (names: string[], moved = names) =>
    nodeSetOf({
      nodes: names.map((ringName, i) => ({ ringName, address: moved[i] })),
      epoch: 5,
      maxSkew: 7,
    } as unknown as Parameters<typeof nodeSetOf>[0]);

  it('has a fingerprint that stays the same for ever, because nodes keep it', () => {
    expect(of(['a:1', 'b:2'])).toEqual({
      fingerprint: '8c94be2b3901027bb7f2064529a35de6',
      nodes: 'a:1, b:2',
      size: 2,
      hasMovedNodes: false,
      epoch: 5,
      lead: 1000,
      skew: 7,
    });
  });

  it('knows whether one of its nodes has another address than its name', () => {
    expect(of(['a:1', 'b:2'], ['a:1', 'c:2'])).toMatchObject({ hasMovedNodes: true, nodes: 'a:1, b:2' });
  });

  it('is named by its nodes, as far as they fit into a message', () => {
    const names = (length: number) => ['a'.repeat(100), 'b'.repeat(length - 102)];
    expect(of(names(200)).nodes).toBe(names(200).join(', '));
    expect(of(names(201)).nodes).toBe(`${names(201).join(', ').slice(0, 197)}... (2 nodes)`);
  });
});
