import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { Connections } from '../../src/http/connections.ts';

const MB = 2 ** 20;

describe('Responses that wait to be read', () => {
  let now: number;
  let connections: Connections;
  let destroyed: string[];
  beforeEach(() => {
    now = 0;
    connections = new Connections(100, () => now);
    destroyed = [];
  });

  /** A connection, as far as its limits need to know it. */
  function open(name: string) {
    const socket = Object.assign(new EventEmitter(), {
      bytesWritten: 0,
      writableLength: 0,
      destroy: () => destroyed.push(name),
    });
    connections.add(socket as unknown as Socket);
    const respond = (size: number) => {
      const response = Object.assign(new EventEmitter(), { socket });
      socket.bytesWritten += size;
      socket.writableLength += size;
      connections.hold(socket as unknown as Socket, response as unknown as ServerResponse, size);
      return () => {
        socket.writableLength -= size;
        response.emit('finish');
      };
    };
    return { respond, read: (size: number) => (socket.writableLength -= size) };
  }

  it('cost the connection that is not read for the longest time, and no other', () => {
    const [old, silent, slow] = [open('old'), open('silent'), open('slow')];
    now = 10;
    silent.respond(15 * MB);
    slow.respond(12 * MB);
    now = 50_000;
    slow.read(1000);
    // It was idle until now, and is not to blame.
    old.respond(6 * MB);
    expect(destroyed).toEqual(['silent']);
    now = 60_000;
    open('new').respond(15 * MB);
    expect(destroyed).toEqual(['silent', 'slow']);
  });

  it('are forgotten when they were read', () => {
    const connection = open('reader');
    for (let i = 0; i < 100; i++) connection.respond(10 * MB)();
    const finish = Array.from({ length: 3 }, () => connection.respond(10 * MB));
    for (const each of finish) each();
    connection.respond(30 * MB);
    expect(destroyed).toEqual([]);
    connection.respond(3 * MB);
    expect(destroyed).toEqual(['reader']);
  });
});
