import { basename } from 'node:path';
import { defineConfig } from 'vite';

/** Where `vite` finds a server while the page is worked on; the built page asks the one that served it. */
const SERVER = 'http://127.0.0.1:7600';

export default defineConfig({
  // Relative, so that the page can also live below a path of a proxy.
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
    // What knows `light-dark()`.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The server's content policy allows no inline script, style or data.
    assetsInlineLimit: 0,
    // Of what is bundled.
    license: { fileName: 'licenses.md' },
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Hex digits, so that every hash is seen to be one.
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
