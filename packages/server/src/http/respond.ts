import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../services.js';
import { DATA_HEADERS, headersOf } from './headers.js';
import type { Repeatable } from './idempotency-cache.js';
import { invalid } from './problem.js';
import type { Answer, Route } from './route.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The handler of a route, as Fastify calls it. */
export function responder(route: Route, { gate, replays, metrics, transit }: Services) {
  const { status = 200, type = JSON_TYPE, method, path, waits = false } = route;
  const answered = metrics.requests.of(method, path, String(status));

  // Past Fastify, which has nothing to add to an answer that is text already.
  const send = ({ raw: { socket } }: FastifyRequest, reply: FastifyReply, answer: Answer): void => {
    answered.count++;
    const body = textOf(answer);
    const { raw } = reply.hijack();
    transit.leave(socket, raw, body.length);
    if (status === 204) raw.writeHead(status, DATA_HEADERS).end();
    else raw.writeHead(status, headersOf(type, Buffer.byteLength(body))).end(body);
  };

  /** At once where the answer is at hand: a promise would cost as much as minting an id. */
  const answerTo = (request: FastifyRequest, reply: FastifyReply): Answer | Promise<Answer> => {
    if (route.body === undefined && request.body !== undefined) refuseBody(request.body);
    if (waits) gate.check();
    const answer = route.handle(request, reply);
    return answer instanceof Promise ? gate.hold(answer) : answer;
  };

  return (request: FastifyRequest, reply: FastifyReply): void | Promise<void> => {
    const key = method === 'GET' ? undefined : request.headers['idempotency-key'];
    if (key !== undefined) {
      const work = async () => textOf(await answerTo(request, reply)).toString();
      const answer = replays.answer(repeatable(request, key, path), reply.raw, work);
      return answer.then((text) => send(request, reply, text));
    }
    const answer = answerTo(request, reply);
    if (answer instanceof Promise) return answer.then((value) => send(request, reply, value));
    send(request, reply, answer);
  };
}

function textOf(answer: Answer): string | Buffer {
  if (typeof answer === 'string' || Buffer.isBuffer(answer)) return answer;
  return answer === undefined ? '' : JSON.stringify(answer);
}

/** What is not read must not look as if it counted. */
function refuseBody(body: unknown): void {
  if (JSON.stringify(body) === '{}') return;
  throw invalid('this takes no body: what it can be told goes into the query');
}

function repeatable(request: FastifyRequest, key: string | string[], path: string): Repeatable {
  // With short keys two clients would come upon the same one some day, and be given the same ids.
  if (typeof key !== 'string' || key.length < 16 || key.length > 255)
    throw invalid('Idempotency-Key must be random text of 16 to 255 characters, such as a UUID');
  return {
    key: `${request.caller?.id ?? ''} ${key}`,
    fingerprint: `${request.method} ${request.url} ${JSON.stringify(request.body ?? null)}`,
    path,
    isRepeat: Number(request.headers['idsmith-try'] ?? 1) > 1,
  };
}
