import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Serves the built web interface: files under /assets for ever, the page itself for every path of its own; /docs to whoever asks. */
export async function addWebPage(app: FastifyInstance, folder: string): Promise<(request: FastifyRequest) => Promise<string | null>> {
  const index = join(folder, 'index.html')
  if (!existsSync(index)) return async () => null
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    cacheControl: false,
    setHeaders: reply => void reply.header('cache-control', 'public, max-age=31536000, immutable'),
  })
  const page = await readFile(index, 'utf8')
  return async request => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null
    const path = request.url.split('?')[0] ?? ''
    const wantsPage = (request.headers.accept ?? '').includes('text/html') && !/^\/(v1|session|assets|hooks|git)(\/|$)/.test(path)
    return wantsPage || path === '/docs' ? page : null
  }
}
