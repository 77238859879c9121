import { pause } from '../../../src/core/pause.ts'
import { statusOf } from './api-error.ts'
import { call } from './client.ts'
import { UNREACHABLE_RETRY_MS } from './queries.ts'

/** Loads code of the page. While the service does not respond it tries again, until the service is back. */
export async function loadWhenReachable<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load()
    } catch (error) {
      // The service responds and does not have this file: it is of another version.
      if (await responds()) throw error
      await pause(UNREACHABLE_RETRY_MS)
    }
  }
}

const responds = () =>
  call('getReadiness').then(
    () => true,
    error => statusOf(error) !== 0,
  )
