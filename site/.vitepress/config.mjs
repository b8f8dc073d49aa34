import { sidebar } from '../sidebar.mjs';

const project = 'https://github.com/idsmith/idsmith';

export default {
  title: 'idsmith',
  description:
    'Identifiers for distributed systems that stay unique when clocks, pauses, networks and restarts misbehave',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  lastUpdated: false,
  // A link to a page that is not there fails the build.
  ignoreDeadLinks: false,
  markdown: {
    // Places within a page are called as they are in the repository.
    anchor: {
      slugify: (heading) =>
        heading
          .trim()
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replace(/\s/g, '-'),
    },
    // The bits of an id and what stands in braces are text, never expressions of a template.
    config: (md) => {
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (...args) => fence(...args).replace('<div ', '<div v-pre ');
    },
  },
  themeConfig: {
    sidebar,
    search: { provider: 'local' },
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: project }],
    editLink: { pattern: `${project}/edit/main/docs/:path` },
  },
};
