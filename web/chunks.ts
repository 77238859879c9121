import { join } from 'node:path'
import type { Plugin, Rolldown } from 'vite'

const SOURCE = join(import.meta.dirname, 'src')
const MAIN = join(SOURCE, 'main.tsx')
const TRACE = join(SOURCE, 'pages/runs/trace.tsx')

/** All icons are exported by one file, which every page imports. */
const ICONS = /lucide-react/
/** Pages that use a module before it belongs to the chunk that all of them load. */
const COMMON_PAGES = 10

/**
 * Chunks by who needs them. Without these groups every module that a few pages share is a chunk of its own:
 * the trace page had sixty, most of one kilobyte, and a browser loads six at a time.
 */
export const chunk_groups: Rolldown.OutputOptions['codeSplitting'] = {
  groups: [
    { name: 'start', tags: ['$initial'], priority: 5 },
    // What icons import, and what imports icons, are different chunks: chunks that import each other start in
    // the wrong order.
    { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\//, priority: 4 },
    {
      name: (id, graph) =>
        id !== MAIN && !ICONS.test(id) && staticImports(MAIN, graph).has(id) ? 'app' : null,
      debugName: 'app',
      priority: 4,
    },
    // The trace page has the most code: it does not load what only the other pages share.
    {
      name: (id, graph) => (staticImports(TRACE, graph).has(id) ? 'common' : 'shared'),
      debugName: 'common',
      test: /web\/src|src\/(core|contract|client)|react-query|query-core|ansi_up/,
      minShareCount: COMMON_PAGES,
      priority: 3,
    },
    { name: 'icons', test: ICONS, minShareCount: 2, priority: 3 },
    {
      name: (id, graph) => (isOurs(id) && staticImports(TRACE, graph).has(id) ? 'run' : null),
      debugName: 'run',
      minShareCount: 2,
      priority: 2,
    },
  ],
}

const isOurs = (id: string) => id.includes('/src/') && !id.includes('node_modules')

type Graph = { getModuleInfo(id: string): { importedIds: readonly string[] } | null }

const imports = new Map<string, Set<string>>()

function staticImports(root: string, graph: Graph): Set<string> {
  const known = imports.get(root)
  if (known) return known
  const found = new Set<string>()
  const visit = (id: string) => {
    if (found.has(id)) return
    found.add(id)
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) visit(imported)
  }
  visit(root)
  imports.set(root, found)
  return found
}

/**
 * Has the document request the code of the page at once, which src/start.ts imports only after its own
 * requests.
 */
export function preloadMain(): Plugin {
  return {
    name: 'preload-main',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) => {
        const chunks = Object.values(bundle).filter(part => part.type === 'chunk')
        const main = chunks.find(chunk => chunk.moduleIds.includes(MAIN))
        if (main === undefined) throw new Error(`${MAIN} is in no chunk`)
        const entry = chunks.find(chunk => chunk.isEntry)
        return [main.fileName, ...main.imports]
          .filter(name => name !== entry?.fileName && !entry?.imports.includes(name))
          .map(name => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/${name}` },
            injectTo: 'head' as const,
          }))
      },
    },
  }
}
