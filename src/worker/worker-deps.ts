import type { WorkerServices } from './services.ts'
import type { ClaimDeps } from './turns/turn.ts'

/**
 * Everything that the worker works with. `retention_days`: how long ended runs are kept, null for ever;
 * `shutdown_grace_ms`: how long running runs may take to the end of their step when this process stops.
 */
export type WorkerDeps = ClaimDeps &
  Pick<WorkerServices, 'owner' | 'host' | 'folder_id' | 'version'> & {
    retention_days: number | null
    shutdown_grace_ms: number
  }
