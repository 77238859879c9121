import type { ReasoningEffort } from '../contract/reasoning-efforts.ts'
import type { RegisteredAgent } from '../core/agents/registered-agents.ts'
import type { Log } from '../core/log.ts'
import type { Mirror } from '../core/network/package-mirrors.ts'
import type { Ceilings } from '../core/runs/budget/limits.ts'
import type { KnownValue } from '../core/secrets/known-value.ts'
import type { Grant, Tokens } from '../core/secrets/mcp-sign-in.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import type { Forges } from '../forge/forges.ts'
import type { GitHost } from '../git/process/git-host.ts'
import type { Hub } from '../live/hub.ts'
import type { ModelCatalog, ModelRequest } from '../model/port.ts'
import type { SandboxDriver, SandboxLimits } from '../sandbox/port.ts'
import type { Db, Transactional } from '../store/database.ts'
import type { SystemUsers } from '../system/users.ts'
import type { Telemetry } from '../telemetry/port.ts'
import type { LeaseKeeper } from './claim/lease-keeper.ts'
import type { Starts } from './claim/starts.ts'
import type { InstalledPrograms } from './sandbox/installed-programs.ts'
import type { ChildRuns } from './turns/child-runs.ts'

type EgressSettings = {
  /** Holds the sockets of the proxies. */
  folder: string
  /** The proxy for all requests except those to mirrors. */
  upstream: URL | null
  mirrors: Mirror[]
  allow_private: boolean
  max_bytes: number
}

/** The models of an organization, as they are configured now. */
export type OrganizationModels = (db: Db, organization_id: number) => Promise<ModelCatalog>

/** Whether a model reviews changes, which one, and how much it thinks; `model` null: that of the run. */
type ReviewSettings = { enabled: boolean; model: string | null; effort: ReasoningEffort }

/**
 * What the worker works with. A function names what it needs, `Pick<WorkerServices, 'db' | 'log'>`, so a
 * test creates only that. A set of such needs gets no name of its own.
 */
export type WorkerServices = {
  db: Transactional
  hub: Hub
  leases: LeaseKeeper
  /** Bounds how many runs open their files at once. */
  starts: Starts
  log: Log
  telemetry: Telemetry
  /** Names this process in leases. */
  owner: string
  /** Names the machine for people. */
  host: string
  /** Names the data folder that holds workspaces. */
  folder_id: string
  version: string
  git: GitHost
  /** Timeouts of one fetch, one clone into a sandbox, and each step of exporting and pushing a commit. */
  git_limits: { fetch_ms: number; clone_ms: number; push_ms: number }
  /** Of the service's own commits, and the trailer that links to the run. */
  author: { name: string; email: string; trailer: string }
  forges: Forges
  /** How long a push or a pull request is retried while the remote is unavailable. */
  push_retry_ms: number
  /** Of the links that the service writes. */
  base_url: string
  folders: { workspaces: string; bundles: string }
  users: SystemUsers
  /** No run starts while less is free on the disk of the workspaces. */
  disk_reserve_bytes: number
  driver: SandboxDriver
  /** Of the sandbox that runs the agent's commands. */
  sandbox_limits: SandboxLimits
  egress: EgressSettings
  sealer: Sealer
  /** Credentials of this process. */
  known_values: readonly KnownValue[]
  /**
   * Renews the tokens of a sign-in to an MCP server once. `ended`: the authorization server no longer accepts
   * it.
   */
  renewSignIn(
    organization_id: number,
    grant: Grant,
    refresh_token: string,
  ): Promise<Tokens | { problem: string; ended: boolean }>
  /** The agents of other vendors that the operator has registered, by id. */
  agents: ReadonlyMap<string, RegisteredAgent>
  organizationModels: OrganizationModels
  /** Those of the run's organization: known once a run is claimed. */
  models: ModelCatalog
  /** Starts and lists child runs. */
  children: ChildRuns
  /** Lists those of the sandboxes of this process. */
  programs: InstalledPrograms
  model_timeouts: ModelRequest['timeouts']
  /** From which size on a conversation is compacted, at most. */
  compact_tokens: number
  /** What one file, one pack and all packs of a run may take, in bytes. */
  checkpoints: { max_file_bytes: number; max_pack_bytes: number; max_run_bytes: number }
  /** Maximum duration of all setup commands of a repository. */
  setup_ms: number
  /** Maximum duration of one command of an agent. */
  tool_seconds: number
  /**
   * How long a run waits for CI after a push in all, for its first check, and between two polls of a forge.
   */
  ci_wait_seconds: number
  ci_first_seconds: number
  ci_poll_seconds: number
  /** Whether a person approves changes of CI workflows before a push. */
  approve_ci_changes: boolean
  /** How a model reviews commits and pull requests. */
  review: ReviewSettings
  /** How long a run may be queued. */
  queue_seconds: number
  /** How long a run waits for an answer. */
  answer_seconds: number
  /** How many leases a turn may lose. */
  max_losses: number
  /** The limits of the service for every run. */
  ceilings: Ceilings
  /** From the start of a turn to its deadline. */
  turn_wall_seconds: number
  /** How long ended runs are kept; null: for ever. */
  retention_days: number | null
  /** How long running runs may take to the end of their step when this process stops. */
  shutdown_grace_ms: number
}
