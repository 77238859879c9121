import { createApp } from '../src/http/app.ts'
import { request_timeouts } from '../src/http/server.ts'
import { Feeds } from '../src/live/feeds.ts'
import { Hub } from '../src/live/hub.ts'
import type { Database } from '../src/store/database.ts'
import { unusedServices } from './no-service.ts'
import { noTelemetry } from './telemetry/no-telemetry.ts'

/** The HTTP app with only a database behind it, for tests of the app itself. */
export function createBareApp(db: Database, timeouts = request_timeouts) {
  const ignored = () => {}
  return createApp(
    {
      services: unusedServices(db),
      feeds: new Feeds(new Hub(), ignored, ignored),
      readiness: () => Promise.reject(new Error('not asked')),
      web: '/nowhere',
      trust_proxy: false,
      version: '',
      failed_tokens: null,
      allowed_hosts: null,
      cors_origins: [],
      log: ignored,
      telemetry: noTelemetry(),
    },
    timeouts,
  )
}
