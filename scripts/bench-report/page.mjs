// bench/README.md: every target, then each benchmark with its charts and what it has printed.

export function page(benchmarks) {
  return `# Benchmarks

\`npm run bench\` measures everything and writes this page; nothing on it is typed by hand. \`npm run bench -- locality flake\` measures some.
Contenders take turns in one process, each is checked for repeated ids first, and strings are flattened. Ratios mean more than rates:
another machine has other rates.

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
