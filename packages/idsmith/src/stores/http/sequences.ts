import { refuse, requireInteger, requireKnown, show } from '../../options.js';
import { isBlock } from '../../sequence/block.js';
import { ALTERABLE, defineRow, MAX_BLOCKS } from '../../sequence/blocks.js';
import type { SequenceStore } from '../../sequence/port.js';
import type { AskServer } from './connection.js';
import { get, type HttpRequest, post, sequencePath } from './request.js';
import { blockIn, sequenceIn } from './server-reply.js';

/** The most blocks that a server gives at once. */
const MAX_BLOCKS_PER_REQUEST = 10_000;

/** Sequences behind a server. */
export function httpSequences(askServer: AskServer): SequenceStore {
  return {
    async defineSequence(definition) {
      const { name, start, blockSize, step, min, max, cycle } = defineRow(definition, 1);
      const body = { name, start, blockSize, step, min, max, cycle };
      await askServer(post(`defining sequence ${show(name)}`, '/v1/sequences', body), () => {});
    },

    async alterSequence(name, changes) {
      requireKnown('changes', changes, ALTERABLE);
      const request: HttpRequest = {
        ...post(`altering sequence ${show(name)}`, sequencePath(name), changes),
        method: 'PATCH',
      };
      return askServer(request, sequenceIn);
    },

    async describeSequence(name) {
      return askServer(get(`describing sequence ${show(name)}`, sequencePath(name)), sequenceIn);
    },

    async listSequences() {
      return askServer(get('listing sequences', '/v1/sequences'), (reply) =>
        reply.list('sequences').map(sequenceIn),
      );
    },

    async removeSequence(name) {
      const what = `removing sequence ${show(name)}`;
      await askServer({ what, method: 'DELETE', path: sequencePath(name), isRepeatable: false }, () => {});
    },

    async allocate(name, blocks) {
      requireInteger('blocks', blocks, 1, MAX_BLOCKS);
      const path = `${sequencePath(name)}/blocks?count=${Math.min(blocks, MAX_BLOCKS_PER_REQUEST)}`;
      // A server that has forgotten its reply allocates another block: one block is lost, and none is given out twice.
      return askServer(post(`allocating from sequence ${show(name)}`, path, undefined, true), blockIn);
    },

    async giveBack(name, tail) {
      if (!isBlock(tail)) refuse('tail', 'a run of ids: first, step and count', tail);
      const { first, step, count, origin } = tail;
      const body = { first, step, count, origin };
      // The origin is the receipt that the server gave with the run. The request is never sent again: meanwhile another client may
      // have taken these ids, and a server that knows no receipts would take the ids from that client.
      const request = post(`giving back to sequence ${show(name)}`, `${sequencePath(name)}/tails`, body);
      return askServer(request, (reply) => reply.boolean('returned'));
    },
  };
}
