// The frame of every picture: one width, one font, and colours for light and dark pages.

export const WIDTH = 760;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2937 }
  .small { font-size: 11px; fill: #6b7280 }
  .on { fill: #ffffff; font-weight: 600 }
  .line { stroke: #6b7280; stroke-width: 1; fill: none }
  .time { fill: #2563eb } .node { fill: #b45309 } .sequence { fill: #047857 }
  .counter { fill: #047857 } .process { fill: #b45309 } .version { fill: #6b7280 }
  .random { fill: #7c3aed } .variant { fill: #047857 } .type { fill: #be185d }
  .first { fill: #2563eb } .second { fill: #047857 } .refused { fill: #b91c1c }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb } .small { fill: #9ca3af } .line { stroke: #9ca3af }
  }`;

/** A whole picture. The title is what a screen reader says. `style` is more style, for one picture. */
export function picture(title, height, body, style = '') {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>${STYLE}${style}
</style>
${body.join('\n')}
</svg>
`;
}

export const text = (x, y, content, { of = '', anchor = 'start' } = {}) =>
  `<text x="${round(x)}" y="${round(y)}"${of && ` class="${of}"`}${anchor === 'start' ? '' : ` text-anchor="${anchor}"`}>${escaped(content)}</text>`;

export const box = (x, y, width, height, of) =>
  `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${height}" rx="3" class="${of}"/>`;

export const line = (x1, y1, x2, y2) =>
  `<path class="line" d="M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}"/>`;

const round = (number) => Math.round(number * 10) / 10;
const escaped = (content) =>
  String(content).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
