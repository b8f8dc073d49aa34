import { fileURLToPath } from 'node:url';
import { sidebar } from '../sidebar.mjs';
import { labelTables } from '../tables.mjs';

const project = 'https://github.com/idsmith/idsmith';
const description =
  'Unique ids and gapless numbers for TypeScript, on the database you have: UUIDv7, typed ids, Snowflake ids with leased worker ids, invoice numbers';
/** Where the site is published. Another place needs another SITE_BASE. */
const base = process.env.SITE_BASE ?? '/';
const address = 'https://idsmith.github.io/idsmith/';

export default {
  title: 'idsmith',
  description,
  lang: 'en',
  base,
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  lastUpdated: false,
  // A link to a page that is not there fails the build.
  ignoreDeadLinks: false,
  head: [
    ['link', { rel: 'icon', href: `${base}favicon.svg`, type: 'image/svg+xml' }],
    ['meta', { property: 'og:title', content: 'idsmith: ids that stay unique' }],
    ['meta', { property: 'og:description', content: description }],
    ['meta', { property: 'og:image', content: `${address}social.png` }],
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Places within a page are called as they are in the repository.
    anchor: {
      slugify: (heading) =>
        heading
          .trim()
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replace(/\s/g, '-'),
    },
    config: (md) => {
      // The bits of an id and what stands in braces are text, never expressions of a template.
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (...args) => fence(...args).replace('<div ', '<div v-pre ');
      labelTables(md);
    },
  },
  vite: {
    // The library from its sources, and the public folder of the site.
    resolve: { conditions: ['idsmith-source'] },
    publicDir: fileURLToPath(new URL('../public', import.meta.url)),
    build: { chunkSizeWarningLimit: 2000 },
  },
  themeConfig: {
    logo: '/favicon.svg',
    nav: [
      { text: 'Which id?', link: '/which-id' },
      { text: 'Playground', link: '/playground' },
      { text: 'Tutorials', link: '/tutorials/overview' },
      { text: 'Questions', link: '/faq' },
      { text: 'API', link: '/api/' },
    ],
    sidebar,
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: project }],
    search: {
      provider: 'local',
      options: {
        // All words must be there. Headings count more than text, and the name of a page more than the headings above a section.
        miniSearch: {
          searchOptions: {
            combineWith: 'AND',
            fuzzy: 0.1,
            prefix: true,
            boost: { title: 8, titles: 2, text: 1 },
          },
        },
        // Of the reference, the list by task is enough: its pages have every parameter of every method.
        _render(source, env, md) {
          if (
            env.frontmatter?.search === false ||
            /^api\/(?!index)|^changelog|^benchmarks/.test(env.relativePath)
          )
            return '';
          return md.render(source, env);
        },
      },
    },
  },
};
