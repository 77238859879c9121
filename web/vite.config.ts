import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { valuesOnly } from '../scripts/values-only.ts'
import { budgets } from './budgets.ts'
import { chunk_groups, preloadMain } from './chunks.ts'
import { precompress } from './precompress.ts'

const ENTITIES = 'decode-named-character-reference'
const service = 'http://127.0.0.1:4600'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    // The SDK's table without the schemas that it is derived from.
    valuesOnly(join(import.meta.dirname, '../src/client/sdk/routes.ts')),
    react(),
    tailwindcss(),
    preloadMain(),
    precompress(),
    budgets({
      ...{ entry_js_gz: 140_000, route_js_gz: 200_000, route_files: 20, css_gz: 15_000, lazy_js_gz: 100_000 },
      ...{ total_bytes: 3_000_000, files: 200 },
    }),
  ],
  // In a worker there is no document, which the variant for browsers needs.
  worker: {
    plugins: () => [
      {
        name: 'without-document',
        enforce: 'pre',
        resolveId: id => (id === ENTITIES ? fileURLToPath(import.meta.resolve(ENTITIES)) : null),
      },
    ],
  },
  // The policy allows no data: script or font, so nothing is inlined.
  build: {
    ...{
      outDir: 'dist',
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
    rolldownOptions: { output: { codeSplitting: chunk_groups } },
  },
  server: {
    proxy: {
      '/v1': service,
      '/session': service,
      '/readyz': service,
      '/openapi.json': service,
      '/docs/errors': service,
    },
  },
})
