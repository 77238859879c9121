import { expect, test } from 'vitest'
import { type Endpoint, methodsOf, pathsOf } from '../src/contract/endpoint.ts'
import { endpoints } from '../src/contract/endpoints.ts'
import { ERROR_REFERENCE_PATH } from '../src/contract/error-reference.ts'
import { mcpOperations } from '../src/contract/mcp/mcp-operations.ts'
import { oauthOperations } from '../src/contract/oauth/oauth-endpoints.ts'
import { gitOperations } from '../src/contract/pull-requests/git-operations.ts'
import { handlers } from '../src/http/handlers.ts'
import { streamHandlers } from '../src/http/routes/stream-routes.ts'
import { Feeds } from '../src/live/feeds.ts'
import { Hub } from '../src/live/hub.ts'
import { Database } from '../src/store/database.ts'
import { createBareApp } from './bare-app.ts'

test('every endpoint of the table has exactly one handler and one route, and there is no other route', async () => {
  const session = [
    'createSession',
    'createSessionToken',
    'deleteSession',
    'openInvitation',
    'acceptSessionInvitation',
    'receiveGitHub',
    'receiveGitea',
    'openGitHubManifest',
  ]
  const feeds = new Feeds(
    new Hub(),
    () => {},
    () => {},
  )
  const served = [
    ...Object.keys(handlers),
    ...Object.keys(streamHandlers(feeds, new Set())),
    ...session,
    'getOpenApi',
  ]
  expect(served.sort()).toEqual(Object.keys(endpoints).sort())

  await using db = new Database('postgres://nobody@127.0.0.1:1/nothing', { max: 1, on_error: () => {} })
  const { app } = await createBareApp(db)
  await app.ready()
  const routesOf = (endpoint: Endpoint, methods: readonly string[]) =>
    pathsOf(endpoint).flatMap(path =>
      methods.map(method => ({ method, url: path.replace(/\{(\w+)\}/g, ':$1') })),
    )
  const wanted = [
    ...[...Object.values(endpoints), ...Object.values(oauthOperations)].flatMap((endpoint: Endpoint) =>
      routesOf(endpoint, methodsOf(endpoint)),
    ),
    ...([...Object.values(gitOperations), ...Object.values(mcpOperations)] as Endpoint[]).flatMap(endpoint =>
      routesOf(endpoint, [endpoint.method]),
    ),
  ] as { method: Endpoint['method']; url: string }[]
  expect(wanted.filter(route => !app.hasRoute(route))).toEqual([])
  const methods = [...app.printRoutes({ commonPrefix: false }).matchAll(/\(([A-Z, ]+)\)/g)].flatMap(
    ([, list = '']) => list.split(', '),
  )
  expect(app.hasRoute({ method: 'GET', url: ERROR_REFERENCE_PATH })).toBe(true)
  const of_documentation = ['GET', 'HEAD']
  // @fastify/cors has one for preflights, to which its hook responds before.
  const of_cors = ['OPTIONS']
  expect(methods.length).toBe(wanted.length + of_documentation.length + of_cors.length)
  await app.close()
})
