import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { database_name } from './cluster.ts'
import { answers } from './connect.ts'
import { findOrphan } from './leftover.ts'
import { socketUrl } from './socket-folder.ts'

const LOOK_MS = 100

/** Whether a first start has made a database in this folder. */
export const hasCluster = (data_dir: string): boolean => existsSync(join(data_dir, 'cluster', 'PG_VERSION'))

/**
 * The connection string of the server that another process runs on this folder, waited for while that process may still be starting it.
 * Null when none takes connections within `wait_ms`.
 */
export async function findRunningPostgres(data_dir: string, wait_ms: number): Promise<string | null> {
  const cluster = join(realpathSync(data_dir), 'cluster')
  for (let waited = 0; waited <= wait_ms; waited += LOOK_MS) {
    const server = findOrphan(cluster)
    if (server?.status === 'ready') {
      const url = socketUrl(server.socket_folder, database_name, database_name)
      if (await answers(url, cluster)) return url
    }
    await delay(LOOK_MS)
  }
  return null
}
