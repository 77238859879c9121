import type { Config } from '../config.ts'
import type { Log } from '../core/log.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import type { Forges } from '../forge/forges.ts'
import type { GitHost } from '../git/process/git-host.ts'
import type { Hub } from '../live/hub.ts'
import type { ModelCatalog } from '../model/port.ts'
import type { SandboxDriver } from '../sandbox/port.ts'
import type { Database } from '../store/database.ts'
import type { DataFolder } from '../system/data-folder.ts'
import type { SystemUsers } from '../system/users.ts'
import type { Telemetry } from '../telemetry/port.ts'

/** What a process does: serve the API, work on runs, or both. Any number of each meet in one database. */
export type Role = 'all' | 'serve' | 'work'

export type ServiceInput = {
  role: Role
  config: Config
  database_url: string
  data: DataFolder
  /** 32 bytes for stored secrets. */
  secret_key: Buffer
  users: SystemUsers
  /** PATH of the environment. */
  path: string
  /** PATH of the service's own git, where it is another one than that of the system. */
  git_path?: string
  /** Absolute path of the Node that sandboxes are shown. */
  node_path: string
  /** Folder of the built web interface. */
  web: string
  version: string
  log: Log
  /** Creates the driver of the sandboxes; default: the configured one. */
  createDriver?(parts: Parts): SandboxDriver
  /** The address of the API that another process serves on this data folder, or null. */
  apiAddress?(): string | null
  /** The id of the process before this one on the data folder, if it crashed; absent, 0: it did not. */
  crashed_pid?: number
}

/** What both roles consist of, without what they were given. */
export type Parts = ServiceInput & {
  /** Names this process where it works on runs. */
  owner: string
  db: Database
  git: GitHost
  hub: Hub
  models: ModelCatalog
  author: CommitAuthor
  telemetry: Telemetry
  /** Of the secrets that are stored. */
  sealer: Sealer
  forges: Forges
}
type CommitAuthor = { name: string; email: string; trailer: string }
