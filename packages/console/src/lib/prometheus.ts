/** One line of the Prometheus text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/** The samples in a text. Other lines are ignored. */
export function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const match = line.startsWith('#') ? null : LINE.exec(line);
    if (match === null) return [];
    const [, name = '', labels = '', value = ''] = match;
    return [{ name, labels: parseLabels(labels), value: parseValue(value) }];
  });
}

function parseLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
    name,
    value.replace(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter),
  ]);
  return Object.fromEntries(pairs);
}

function parseValue(text: string): number {
  return text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);
}

/** The sum of all samples of a metric whose labels match. */
export function sum(
  samples: readonly Sample[],
  name: string,
  matches: (labels: Sample['labels']) => boolean = () => true,
): number {
  return samples.reduce(
    (total, sample) => (sample.name === name && matches(sample.labels) ? total + sample.value : total),
    0,
  );
}
