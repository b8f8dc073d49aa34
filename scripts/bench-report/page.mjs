// bench/README.md: every target, then each benchmark with its charts and what it has printed.

export function page(benchmarks) {
  return `# Benchmarks

\`npm run bench\` measures everything and writes this page. Nothing on it is typed by hand. \`npm run bench -- locality flake\` measures some of it.
[How fast](../docs/speed.md) has a short version.

- Contenders take turns in one process. Each is checked for repeated ids first.
- Strings are flattened. V8 joins the parts of a string only when the string is read, so a string that is never read would look free.
- Ratios mean more than rates: another machine has other rates. "a against b: 1.5 ×" means that a is 1.5 times as good as b, in speed, time or round trips.
- The targets are the project's own. Some are missed, and stay in the list.

## Targets

| benchmark | what | measured | to reach | |
|---|---|---:|---:|---|
${benchmarks.flatMap(targetRows).join('\n')}

${benchmarks.map(section).join('\n\n')}
`;
}

function targetRows({ name, data }) {
  return (data.targets ?? []).map(
    ({ what, ratio, target }) =>
      `| ${name} | ${what} | ${ratio.toFixed(2)} × | ${Number(target.toFixed(2))} × | ${ratio >= target ? 'reached' : '**missed**'} |`,
  );
}

function section({ name, data, printed, charts }) {
  const pictures = charts.map(({ title, file }) => `![${title}](charts/${file})\n\n`).join('');
  const text = printed.replace(/\nwritten to .*\n/, '\n').trim();
  return `## ${name}

${data.machine}; ${data.date}.

${pictures}\`\`\`text
${text}
\`\`\``;
}
