import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'

/**
 * Replaces modules whose exports are plain JSON by their values, so that what these are derived from is not
 * bundled.
 */
export function valuesOnly(...modules: string[]): Plugin {
  return {
    name: 'values-only',
    enforce: 'pre',
    async load(id) {
      if (!modules.includes(id)) return
      const exports: Record<string, unknown> = await import(pathToFileURL(id).href)
      return Object.entries(exports)
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}\n`)
        .join('')
    },
  }
}
