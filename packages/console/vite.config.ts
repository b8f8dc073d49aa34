import { basename } from 'node:path';
import { defineConfig } from 'vite';

/** The server that the development page uses. The built page uses the server that it comes from. */
const SERVER = 'http://127.0.0.1:7600';

export default defineConfig({
  // Relative, so that the page also works under a path of a proxy.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  css: {
    modules: {
      // `lease-grid__pager`: easy to find. A test keeps the names of the files apart.
      generateScopedName: (name, file) => `${basename(file, '.module.css')}__${name}`,
    },
  },
  build: {
    target: 'es2022',
    // The first versions that support `light-dark()`.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy of the server forbids inline scripts, styles and data.
    assetsInlineLimit: 0,
    // The licences of the bundled packages.
    license: { fileName: 'licenses.md' },
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Hex digits make every hash easy to recognise.
        hashCharacters: 'hex',
        entryFileNames: 'assets/[name]-[hash:12].js',
        chunkFileNames: 'assets/[name]-[hash:12].js',
        assetFileNames: 'assets/[name]-[hash:12][extname]',
      },
    },
  },
  server: {
    proxy: Object.fromEntries(['/v1', '/metrics', '/healthz', '/readyz'].map((path) => [path, SERVER])),
  },
});
