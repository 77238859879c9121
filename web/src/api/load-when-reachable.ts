import { isKnownUnreachable, responds, untilResponding } from './query-client.ts'

/**
 * Loads code of the page. While the service does not respond it waits, until the service is back. Some
 * browsers keep the failure of a module until the document is reloaded, so nothing is requested while the
 * service is known not to respond.
 */
export async function loadWhenReachable<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    if (isKnownUnreachable()) await untilResponding()
    try {
      return await load()
    } catch (error) {
      // The service responds and does not have this file: it is of another version. Or the browser has kept
      // the failure. The router reloads.
      if (await responds()) throw error
    }
  }
}
