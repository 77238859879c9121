import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../core/pause.ts'
import { database_name } from './cluster.ts'
import { isClusterAt } from './connect.ts'
import { findOrphan } from './leftover.ts'
import { socketUrl } from './socket-folder.ts'

const POLL_INTERVAL_MS = 100

/** Returns whether a first start has created a database in this folder. */
export const hasCluster = (data_dir: string): boolean => existsSync(join(data_dir, 'cluster', 'PG_VERSION'))

/**
 * Returns the connection string of the server that another process runs on this folder, waited for while that
 * process may still be starting it. Null when none takes connections within `wait_ms`.
 */
export async function findRunningPostgres(data_dir: string, wait_ms: number): Promise<string | null> {
  const cluster = join(realpathSync(data_dir), 'cluster')
  for (let waited = 0; waited <= wait_ms; waited += POLL_INTERVAL_MS) {
    const server = findOrphan(cluster)
    if (server?.status === 'ready') {
      const url = socketUrl(server.socket_folder, database_name, database_name)
      if (await isClusterAt(url, cluster)) return url
    }
    await pause(POLL_INTERVAL_MS)
  }
  return null
}
