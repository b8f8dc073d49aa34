import { describe, expect, it } from 'vitest';
import { repeated } from '../support/unique.ts';
import { idsmith } from './in-process.ts';

describe('idsmith typeid', () => {
  it('prints increasing typed ids, one a line', async () => {
    const { status, stderr, lines } = await idsmith('typeid', 'user', '-n', '2500');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines).toHaveLength(2500);
    expect(repeated(lines)).toEqual([]);
    expect(lines).toEqual(lines.toSorted());
    for (const id of lines) expect(id).toMatch(/^user_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  });

  it('prints JSON, and the bare suffix for an empty prefix', async () => {
    const { ids } = JSON.parse((await idsmith('typeid', '', '--json')).stdout);
    expect(ids).toEqual([expect.stringMatching(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/)]);
  });

  it('refuses a missing or wrong prefix and a wrong count', async () => {
    const none = await idsmith('typeid');
    expect(none.status).toBe(2);
    expect(none.stderr).toContain('typeid needs a prefix');
    const wrong = await idsmith('typeid', 'User');
    expect(wrong.status).not.toBe(0);
    expect(wrong.stderr).toContain('prefix must be 0 to 63 letters');
    expect((await idsmith('typeid', 'user', '-n', '0x')).status).toBe(2);
  });
});
