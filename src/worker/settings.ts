import type { Log } from '../core/log.ts'
import type { KnownValue } from '../core/redaction/redact.ts'
import type { Ceilings } from '../core/runs/budget-check.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import type { Forges } from '../forge/forges.ts'
import type { GitHost } from '../git/process/git-host.ts'
import type { Hub } from '../live/hub.ts'
import type { ModelCatalog, ModelRequest } from '../model/port.ts'
import type { SandboxDriver, SandboxLimits } from '../sandbox/port.ts'
import type { Transactional } from '../store/database.ts'
import type { ServiceUsers } from '../system/users.ts'
import type { Telemetry } from '../telemetry/port.ts'
import type { EgressSettings } from './sandbox/egress.ts'
import type { Environments } from './setup/environments.ts'
import type { ChildRuns } from './turns/child-runs.ts'
import type { Templates } from './workspace/templates.ts'

/** What is kept of a run's files, in bytes: one file, one pack, all packs of the run. */
export type CheckpointLimits = { max_file_bytes: number; max_pack_bytes: number; max_run_bytes: number }

/** What the worker works with. Made once, by main. */
export type WorkerDeps = {
  /** Names this process in leases and in its session lock. */
  owner: string
  db: Transactional
  hub: Hub
  /** What agents start runs by. */
  children: ChildRuns
  driver: SandboxDriver
  templates: Templates
  environments: Environments
  /** Of the sandbox that the agent's commands run in. */
  sandbox_limits: SandboxLimits
  git: GitHost
  models: ModelCatalog
  users: ServiceUsers
  folders: { workspaces: string; bundles: string }
  /** Names this machine, for people. */
  host: string
  /** Names the data folder: workspaces are only looked for where they were made. */
  folder_id: string
  base_url: string
  ceilings: Ceilings
  /** From the start of a turn to its deadline, and how long a run may wait for that start. */
  turn_wall_seconds: number
  queue_seconds: number
  /** How long a question waits for its answer. */
  answer_seconds: number
  /** How long the checks of others are waited for after a push. */
  ci_wait_seconds: number
  /** How long the first of them is waited for, and how often a forge is asked. */
  ci_first_seconds: number
  ci_poll_seconds: number
  /** A person is asked before a change of what CI does is pushed. */
  approve_ci_changes: boolean
  /** The model of a run is asked about its commits and its pull request, besides what goes by rules. */
  model_evaluations: boolean
  /** Leases that a turn may lose before it ends as lost. */
  max_losses: number
  /** For how long runs that have ended are kept; null: for ever. */
  retention_days: number | null
  version: string
  /** How long runs at work may take to the end of their step when this process stops. */
  shutdown_grace_ms: number
  model_timeouts: ModelRequest['timeouts']
  /** Bytes that must be free where the workspaces are, or no run is started. */
  disk_reserve_bytes: number
  /** How long one fetch, one clone into a sandbox, and each step of bringing a commit out and pushing it may take. */
  git_limits: { fetch_ms: number; clone_ms: number; push_ms: number }
  /** The longest time that the setup commands of a repository may have. */
  setup_ms: number
  /** The longest time-out that a command may have. */
  tool_seconds: number
  checkpoints: CheckpointLimits
  /** How long a remote that is away at the push is waited for. */
  push_retry_ms: number
  egress: EgressSettings
  author: { name: string; email: string; trailer: string }
  /** Opens the secrets of organizations. */
  sealer: Sealer
  /** Those that organizations are connected to. */
  forges: Forges
  /** Credentials of this process, which no trace may hold. */
  known_values: readonly KnownValue[]
  log: Log
  telemetry: Telemetry
}
