import { responds, untilResponding } from './query-client.ts'

/** Loads code of the page. While the service does not respond it waits, until the service is back. */
export async function loadWhenReachable<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load()
    } catch (error) {
      // The service responds and does not have this file: it is of another version.
      if (await responds()) throw error
      await untilResponding()
    }
  }
}
