import { openStore } from 'idsmith/stores';
import { expect, it } from 'vitest';
import { describeWith, initialised, startRedis } from '#services';
import { problemOf } from './support/problem.ts';
import { TestServer } from './support/server.ts';

await describeWith(['redis'], 'A store that has lost a sequence', () => {
  it('defines it again when a person says where it goes on, and the metrics tell', async () => {
    const redis = await initialised(await startRedis());
    const store = await openStore(redis.url);
    const here = await TestServer.prepare({}, store);
    await here.post('/v1/sequences', { body: { name: 'orders' } });
    expect((await here.post('/v1/sequences/orders/next')).json.ids).toEqual(['1']);
    await redis.command('DEL', 'idsmith:sequence:{orders}');
    const define = (body: object) => here.post('/v1/sequences', { body: { name: 'orders', ...body } });
    expect(problemOf(await define({}))).toMatchObject({ status: 503, code: 'STORE_WENT_BACK' });
    expect(await here.metric('idsmith_store_went_back_total{operation="defineSequence"}')).toBe(1);
    expect(await here.metric('idsmith_store_warnings')).toBe(0);
    expect(problemOf(await define({ lost: true }))).toMatchObject({ status: 422, code: 'INVALID_OPTION' });
    expect((await define({ lost: true, start: '1001' })).json).toMatchObject({ start: null, next: '1001' });
    await here.stop();
    await store.close();
    await redis.stop();
  });
});
