import { expect, test, vi } from 'vitest'
import { pagePictures, redirects } from '../../../scripts/screenshots/pages.ts'

type Route = { fullPath: string; children?: unknown }
type RouterModule = { createAppRouter(queries: object): { routesById: Record<string, Route> } }

/** Not by a literal, because the compiler checks the page with the types of a browser. */
const router_file: string = '../../../web/src/router.tsx'

test('every route of the web page has a picture, and every picture shows a route', async () => {
  vi.stubGlobal('location', { pathname: '/nowhere' })
  const { createAppRouter }: RouterModule = await import(router_file)
  vi.unstubAllGlobals()
  const routes = Object.values(createAppRouter({}).routesById).filter(
    ({ children }) => children === undefined,
  )
  const runs = new Proxy({}, { get: () => 1 }) as Parameters<typeof pagePictures>[0]['runs']
  const pull_requests = { merged: 1, commented: 2, failing: 3, all: [1, 2, 3] }
  const repositories = { invoice: 1, storefront: 2, infrastructure: 3 }
  const pictures = pagePictures({
    runs,
    repositories,
    pull_requests,
    sandbox: 1,
    delivery: 1,
    invitation_code: '#code=x',
    sign_in_request: 'client_id=x',
    signInResponse: async () => 'state=x',
    gitHubResponse: async () => 'state=x',
  })
  const shown = [...new Set(pictures.flatMap(({ route }) => route ?? [])), ...redirects]
  expect(routes.map(({ fullPath }) => fullPath).sort()).toEqual(shown.sort())
  expect(new Set(pictures.map(({ name }) => name)).size).toBe(pictures.length)
})
