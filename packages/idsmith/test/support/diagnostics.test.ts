import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { report } from '../../src/support/diagnostics.js';

test('a message reaches those who listen to its channel, and them alone', () => {
  const received: unknown[] = [];
  const listen = (message: unknown) => received.push(message);
  subscribe('idsmith:lease', listen);
  report('idsmith:lease', () => ({ event: 'renewed', id: 3 }));
  report('idsmith:sequence', () => ({ event: 'fetched' }));
  unsubscribe('idsmith:lease', listen);
  report('idsmith:lease', () => ({ event: 'released', id: 3 }));
  expect(received).toEqual([{ event: 'renewed', id: 3 }]);
});

test('no message is made when nobody listens', () => {
  report('idsmith:store', () => {
    throw new Error('made for nobody');
  });
});
