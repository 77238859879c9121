import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, startApp } from '../../start-app.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const response = await fetch(app.base_url + path, { method, headers })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    headers: response.headers,
    text: await response.text(),
  }
}
const html = 'text/html; charset=utf-8'
const web = join(import.meta.dirname, '../../../web/src')
const routers = ['router.tsx', ...globSync('pages/*/routes.ts', { cwd: web })].map(name =>
  readFileSync(join(web, name), 'utf8'),
)
/**
 * The absolute paths of the routes. Those below them, as the tabs of a repository, are covered by one example
 * of each depth.
 */
const own_paths = [...routers.join('\n').matchAll(/^ {2}path: '(\/[^']*)'/gm)].map(([, path = '']) =>
  path.replace('$id', '7'),
)
const paths = [
  ...new Set([...own_paths, '/repositories/7', '/repositories/7/environment', '/settings/members']),
]

describe('the page', () => {
  test.each(paths)(
    'is served at %s to every client that does not accept JSON, and its headers for HEAD',
    async path => {
      for (const accept of [
        '*/*',
        'text/html,application/xhtml+xml',
        'text/plain',
        'image/png, */*;q=0.1',
        '',
      ]) {
        const { status, type, text } = await get(path, { accept })
        expect([accept, status, type, text.slice(0, 15).toLowerCase()]).toEqual([
          accept,
          200,
          html,
          '<!doctype html>',
        ])
        const head = await get(path, { accept, 'accept-encoding': 'identity' }, 'HEAD')
        expect([head.status, head.type, head.text, Number(head.headers.get('content-length'))]).toEqual([
          200,
          html,
          '',
          Buffer.byteLength(text),
        ])
      }
      for (const accept of ['application/json', 'application/problem+json'])
        expect([accept, (await get(path, { accept })).status]).toEqual([accept, 404])
    },
  )

  test('is also served to a browser at an unknown path, and other clients get 404 there', async () => {
    expect((await get('/nothing', { accept: 'text/html' })).type).toBe(html)
    for (const path of ['/nothing', '/.env', '/robots.txt', '/agent/trace', '/agent/trace/1/2'])
      expect([path, (await get(path)).status]).toEqual([path, 404])
    for (const path of ['/v1/nothing', '/session/x', '/git/1/1.git/HEAD', '/hooks/none'])
      expect([path, (await get(path, { accept: 'text/html' })).status]).toEqual([path, 404])
  })

  test('is at the web address of a run', async () => {
    const { body: run } = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, { prompt: 'x' })
    expect((await fetch(run.web_url)).status).toBe(200)
  })
})
