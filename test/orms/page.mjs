import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { transformSync } from 'esbuild';

const generated = new URL('generated/docs/', import.meta.url);
mkdirSync(generated, { recursive: true });

/** The programs of a page of the documentation. */
export class Page {
  #name;
  #text;

  /** @param {string} name such as `orms` */
  constructor(name) {
    this.#name = name;
    this.#text = readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
  }

  get text() {
    return this.#text;
  }

  /** The headings of the second level. */
  get headings() {
    return [...this.#text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  }

  /** The programs under a heading. */
  programs(heading) {
    const [section] = this.#text.split(`\n## ${heading}\n`)[1].split('\n## ');
    return [...section.matchAll(/^```(js|typescript|sql)\n([\s\S]*?)^```$/gm)].map(([, language, code]) =>
      language === 'typescript' ? compiled(code) : code,
    );
  }

  /** Runs programs one after the other as one module. Gives what the module exports. */
  async run(name, ...code) {
    const file = new URL(`${this.#name}-${name}.mjs`, generated);
    const whole = code.join('\n').replace('./generated/prisma/client.js', '../postgresql/client.ts');
    writeFileSync(file, whole);
    return import(file.pathname);
  }
}

/** TypeScript as JavaScript, with the decorators of TypeORM. */
function compiled(code) {
  const tsconfigRaw = { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } };
  return transformSync(code, { loader: 'ts', format: 'esm', target: 'node20', tsconfigRaw }).code;
}
