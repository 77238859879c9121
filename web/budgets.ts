import { gzipSync } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'

export type Budgets = {
  /** Gzipped bytes of the entry and everything it imports at once. */
  entry_js_gz: number
  /** Gzipped bytes of the entry together with any one page, before what that page loads lazily. */
  route_js_gz: number
  /** Files of the entry together with any one page. */
  route_files: number
  css_gz: number
  /** Gzipped bytes of any other chunk. */
  lazy_js_gz: number
  total_bytes: number
  files: number
}

/** Fails the build when what a browser must load grows past the budget. */
export function budgets(budget: Budgets): Plugin {
  return {
    name: 'budgets',
    apply: 'build',
    writeBundle(_options, bundle) {
      const parts = Object.values(bundle)
      const chunks = parts.filter(part => part.type === 'chunk')
      const gz = new Map(chunks.map(chunk => [chunk.fileName, gzipSync(chunk.code, { level: 9 }).length]))
      const weigh = (...roots: Rolldown.OutputChunk[]) =>
        [...closure(chunks, roots)].reduce((sum, name) => sum + (gz.get(name) ?? 0), 0)
      // The entry only starts requests, and imports the page.
      const entry = chunks.filter(
        chunk => chunk.isEntry || chunk.moduleIds.some(id => id.endsWith('/web/src/main.tsx')),
      )
      const pages = chunks.filter(chunk => chunk.facadeModuleId?.includes('/src/pages/'))
      const sizes: [string, number, number][] = [
        ['entry JS, gz', weigh(...entry), budget.entry_js_gz],
        ...pages.map((page): [string, number, number] => [
          `${page.name} page JS, gz`,
          weigh(...entry, page),
          budget.route_js_gz,
        ]),
        [
          'most files of a page',
          Math.max(...pages.map(page => closure(chunks, [...entry, page]).size)),
          budget.route_files,
        ],
        ['largest chunk, gz', Math.max(...gz.values()), budget.entry_js_gz],
        [
          'largest lazy chunk, gz',
          Math.max(
            0,
            ...chunks.filter(chunk => !entry.includes(chunk)).map(chunk => gz.get(chunk.fileName) ?? 0),
          ),
          budget.lazy_js_gz,
        ],
        [
          'CSS, gz',
          styles(parts).reduce((sum, css) => sum + gzipSync(css, { level: 9 }).length, 0),
          budget.css_gz,
        ],
        ['all bytes', parts.reduce((sum, part) => sum + bytes(part), 0), budget.total_bytes],
        ['files', parts.length, budget.files],
      ]
      for (const [what, is, limit] of sizes) this.info(`${what}: ${is} of ${limit}`)
      const over = sizes.filter(([, is, limit]) => is > limit)
      if (over.length)
        this.error(`over budget: ${over.map(([what, is, limit]) => `${what} ${is} > ${limit}`).join(', ')}`)
    },
  }
}

function closure(chunks: Rolldown.OutputChunk[], roots: Rolldown.OutputChunk[]): Set<string> {
  const seen = new Set<string>()
  const visit = (chunk: Rolldown.OutputChunk | undefined) => {
    if (!chunk || seen.has(chunk.fileName)) return
    seen.add(chunk.fileName)
    for (const name of chunk.imports) visit(chunks.find(other => other.fileName === name))
  }
  for (const root of roots) visit(root)
  return seen
}

const styles = (parts: (Rolldown.OutputChunk | Rolldown.OutputAsset)[]) =>
  parts.flatMap(part => (part.type === 'asset' && part.fileName.endsWith('.css') ? [part.source] : []))

const bytes = (part: Rolldown.OutputChunk | Rolldown.OutputAsset) =>
  Buffer.byteLength(part.type === 'chunk' ? part.code : part.source)
