// A module of an application that hot reload evaluates again and again.
import { env } from 'node:process';
import { defineLayout } from 'idsmith';
import { connect } from 'idsmith/connect';

// Sixteen node ids. Each evaluation makes an object of its own.
const layout = defineLayout({ epoch: 1_767_225_600_000, timeBits: 41, nodeBits: 4, sequenceBits: 12 });

/** The ways to connect in a module that is evaluated again. */
const WAYS = {
  anew: () => connect(env.STORE_URL),
  shared: () => connect(env.STORE_URL, { shared: true }),
  realm: () => {
    globalThis.ids ??= connect(env.STORE_URL);
    return globalThis.ids;
  },
};

export const ids = await WAYS[env.WAY]();
export const orders = await ids.flakes('orders', { layout });
