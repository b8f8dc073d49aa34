import type { Counter, Labels } from './counter.js';

// The text format of Prometheus, version 0.0.4.

export function* counterLines(name: string, help: string, counter: Counter): Iterable<string> {
  yield* header(name, 'counter', help);
  for (const [labels, count] of counter.samples()) yield sample(name, labels, count);
}

export function* header(name: string, type: string, help: string): Iterable<string> {
  yield `# HELP ${name} ${help}`;
  yield `# TYPE ${name} ${type}`;
}

export function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`;
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
