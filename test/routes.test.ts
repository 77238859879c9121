import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Endpoint, pathsOf } from '../src/contract/endpoint.ts'
import { endpoints } from '../src/contract/endpoints.ts'
import { gitOperations } from '../src/contract/git-operations.ts'
import { createApp } from '../src/http/app.ts'
import { handlers } from '../src/http/handlers.ts'
import { streamHandlers } from '../src/http/stream-routes.ts'
import { Feeds } from '../src/live/feeds.ts'
import { Hub } from '../src/live/hub.ts'
import { Database } from '../src/store/database.ts'
import { unaskedServices } from './no-service.ts'
import { noTelemetry } from './no-telemetry.ts'
import { clone } from './source-tree.ts'

test('every endpoint of the table has exactly one handler and one route, and there is no route besides', async () => {
  const session = [
    'createSession',
    'createSessionToken',
    'deleteSession',
    'receiveGitHub',
    'receiveGitea',
    'openGitHubManifest',
    'finishGitHubManifest',
  ]
  const feeds = new Feeds(
    new Hub(),
    () => {},
    () => {},
  )
  const served = [...Object.keys(handlers), ...Object.keys(streamHandlers(feeds, new Set())), ...session, 'getOpenApi']
  expect(served.sort()).toEqual(Object.keys(endpoints).sort())

  await using db = new Database('postgres://nobody@127.0.0.1:1/nothing', { max: 1, on_error: () => {} })
  const { app } = await createApp({
    services: unaskedServices(db),
    feeds,
    readiness: () => Promise.reject(new Error('not asked')),
    web: join(clone, 'no-such-folder'),
    trust_proxy: false,
    version: '',
    failed_tokens: null,
    allowed_hosts: null,
    cors_origins: [],
    log: () => {},
    telemetry: noTelemetry(),
  })
  await app.ready()
  const wanted = ([...Object.values(endpoints), ...Object.values(gitOperations)] as Endpoint[]).flatMap(endpoint =>
    pathsOf(endpoint).map(path => ({ method: endpoint.method, url: path.replace(/\{(\w+)\}/g, ':$1') })),
  )
  expect(wanted.filter(route => !app.hasRoute(route))).toEqual([])
  const methods = [...app.printRoutes({ commonPrefix: false }).matchAll(/\(([A-Z, ]+)\)/g)].flatMap(([, list = '']) => list.split(', '))
  expect(methods.length).toBe(wanted.length)
  await app.close()
})
