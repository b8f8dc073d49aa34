/** The channels of `node:diagnostics_channel` on which the library reports what it does. */
export type ChannelName = 'idsmith:lease' | 'idsmith:sequence' | 'idsmith:key' | 'idsmith:store';

/** What happened, and the details of it. */
export interface ChannelMessage {
  readonly event: string;
  readonly [detail: string]: unknown;
}

interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: ChannelMessage): void;
}

interface DiagnosticsChannel {
  channel(name: string): Channel;
}

interface ProcessLike {
  getBuiltinModule?(name: string): DiagnosticsChannel | undefined;
}

/**
 * Publishes a message to those who listen. The message is made only for them, and nothing happens in a runtime without
 * `diagnostics_channel`.
 *
 * @example
 * report('idsmith:lease', () => ({ event: 'renewed', namespace, id, until }));
 */
export function report(name: ChannelName, message: () => ChannelMessage): void {
  const channel = channelOf(name);
  if (channel?.hasSubscribers) channel.publish(message());
}

const channels = new Map<ChannelName, Channel | undefined>();

function channelOf(name: ChannelName): Channel | undefined {
  if (!channels.has(name)) {
    // The core imports no built-in module, so that it loads everywhere: it asks the runtime for this one.
    const process = (globalThis as { process?: ProcessLike }).process;
    const diagnostics = process?.getBuiltinModule?.('diagnostics_channel');
    channels.set(name, diagnostics?.channel(name));
  }
  return channels.get(name);
}
