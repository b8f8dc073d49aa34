import { InvalidOptionError } from '../../errors.js';
import { refuse, requireInteger, requireKnown, show } from '../../options.js';
import { isBlock } from '../../sequence/block.js';
import { ALTERABLE, defineRow, MAX_BLOCKS } from '../../sequence/blocks.js';
import type { SequenceInfo, SequenceStore } from '../../sequence/port.js';
import { type AskServer, get, type HttpRequest, post, sequencePath } from './connection.js';
import { blockIn, type ServerReply, sequenceIn } from './server-reply.js';

/** The most blocks that a server gives at once. */
const MAX_BLOCKS_PER_REQUEST = 10_000;

const LIST = '/v1/sequences';

/** The sequences of one page of a list. A server gives 1,000 at most. */
const PAGE = 1000;

/** A page of sequences, and the cursor of the next one. */
const pageIn = (reply: ServerReply) => ({
  sequences: reply.list('sequences').map(sequenceIn),
  cursor: reply.has('cursor') ? reply.text('cursor') : undefined,
});

/** Sequences behind a server. */
export function httpSequences(askServer: AskServer): SequenceStore {
  return {
    async defineSequence(definition) {
      const { name, start, blockSize, step, min, max, cycle } = defineRow(definition, 1);
      const { lost } = definition;
      // Only with a start of its own: the default is no number beyond others. Earlier servers do not know the word, and refuse it.
      const begin = lost && definition.start === undefined ? {} : { start };
      const body = { name, ...begin, blockSize, step, min, max, cycle, ...(lost && { lost }) };
      await askServer(post(`defining sequence ${show(name)}`, LIST, body), () => {});
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
      const found: SequenceInfo[] = [];
      for (let path = `${LIST}?limit=${PAGE}`; ; ) {
        const page = await askServer(get('listing sequences', path), pageIn).catch((error: unknown) => {
          // A server of an earlier version knows no pages, and lists all sequences at once.
          if (found.length > 0 || !(error instanceof InvalidOptionError)) throw error;
          return askServer(get('listing sequences', LIST), pageIn);
        });
        found.push(...page.sequences);
        if (page.cursor === undefined || page.sequences.length === 0) return found;
        path = `${LIST}?limit=${PAGE}&cursor=${encodeURIComponent(page.cursor)}`;
      }
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
