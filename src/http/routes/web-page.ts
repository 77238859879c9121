import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Paths of the page's own router (web/src/router.tsx and the routes.ts of each group of pages). */
const page_paths =
  /^\/(|sign-in|invitation|docs|new|compare|forges|usage|oauth\/authorize|mcp-sign-in|github-app|agent\/trace\/[^/]+|(pull-requests|repositories|sandboxes|settings)(\/[^/]+){0,2})$/
const other_paths = /^\/(v1|session|assets|hooks|git|oauth\/(token|register)|\.well-known)(\/|$)/

/**
 * Serves the built web interface: files under /assets as immutable, the page itself at its own paths to every
 * client that does not request JSON (curl, link previews), and at unknown paths only to browsers, so that
 * scanners and API clients with a wrong path get 404.
 */
export async function addWebPage(
  app: FastifyInstance,
  folder: string,
): Promise<(request: FastifyRequest) => Promise<string | null>> {
  const index = join(folder, 'index.html')
  if (!existsSync(index)) return async () => null
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    preCompressed: true,
    cacheControl: false,
    // An immutable file is never requested again, in whole or in part; its ETag is kept for proxies.
    acceptRanges: false,
    lastModified: false,
    setHeaders: reply => void reply.header('cache-control', 'public, max-age=31536000, immutable'),
  })
  const page = await readFile(index, 'utf8')
  return async request => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null
    const path = request.url.split('?')[0] ?? ''
    const accept = request.headers.accept ?? ''
    if (accept.includes('text/html')) return other_paths.test(path) ? null : page
    return page_paths.test(path) && !/[/+]json\b/.test(accept) ? page : null
  }
}
