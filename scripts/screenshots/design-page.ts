import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import type { BrowserContext } from 'playwright-core'
import { build, type Rolldown } from 'vite'

export const DESIGN_PATH = '/design/'

/**
 * Builds the page of the parts that pages are made of, which is not shipped. Returns the function that shows
 * it to a browser at a path of every service; nothing of it is on the disk.
 */
export async function buildDesignPage(): Promise<(context: BrowserContext) => Promise<void>> {
  const built = await build({
    root: fileURLToPath(new URL('../../web/design/', import.meta.url)),
    configFile: false,
    base: DESIGN_PATH,
    logLevel: 'warn',
    plugins: [react(), tailwindcss()],
    build: { write: false },
  })
  const files = new Map((built as Rolldown.RolldownOutput).output.map(file => [file.fileName, file]))
  return async context => {
    await context.route(
      url => url.pathname.startsWith(DESIGN_PATH),
      route => {
        const name = new URL(route.request().url()).pathname.slice(DESIGN_PATH.length) || 'index.html'
        const file = files.get(name)
        if (file === undefined) return route.fulfill({ status: 404 })
        const body = Buffer.from(file.type === 'chunk' ? file.code : file.source)
        return route.fulfill({ contentType: types[name.slice(name.lastIndexOf('.'))], body })
      },
    )
  }
}

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
