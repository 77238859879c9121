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
import type { ModelCatalog, ModelRequest } from '../model/port.ts'
import type { SandboxDriver, SandboxLimits } from '../sandbox/port.ts'
import type { Db, Transactional } from '../store/database.ts'
import type { SystemUsers } from '../system/users.ts'
import type { Telemetry } from '../telemetry/port.ts'

/* What the worker works with, by topic. A function names the topics that it needs; `worker-deps.ts` has all of them. */

export type DatabaseDeps = { db: Transactional }
export type LogDeps = { log: Log }
export type TelemetryDeps = { telemetry: Telemetry }

/** `owner` names this process in leases; `host` names the machine for people; `folder_id` names the data folder that holds workspaces. */
export type ProcessDeps = { owner: string; host: string; folder_id: string; version: string }

/** The timeouts are those of one fetch, one clone into a sandbox, and each step of exporting and pushing a commit. */
export type GitDeps = { git: GitHost; git_limits: { fetch_ms: number; clone_ms: number; push_ms: number } }

/** Author of the service's own commits, and the trailer that links to the run. */
export type AuthorDeps = { author: { name: string; email: string; trailer: string } }

/** `push_retry_ms`: how long a push or a pull request is retried while the remote is unavailable. */
export type ForgeDeps = { forges: Forges; push_retry_ms: number }

/** `base_url`: of the links that the service writes. */
export type LinkDeps = { base_url: string }

/** `disk_reserve_bytes`: no run starts while less is free on the disk of the workspaces. */
export type HostFolderDeps = {
  folders: { workspaces: string; bundles: string }
  users: SystemUsers
  disk_reserve_bytes: number
}

type EgressSettings = {
  /** Holds the sockets of the proxies. */
  folder: string
  /** The proxy for all requests except those to mirrors. */
  upstream: URL | null
  mirrors: Mirror[]
  allow_private: boolean
  max_bytes: number
}

/** `sandbox_limits`: of the sandbox that runs the agent's commands. */
export type SandboxDeps = { driver: SandboxDriver; sandbox_limits: SandboxLimits }
export type EgressDeps = { egress: EgressSettings }

/** `known_values`: credentials of this process. */
export type SecretDeps = { sealer: Sealer; known_values: readonly KnownValue[] }

/** Renews the tokens of a sign-in to an MCP server once. `ended`: the authorization server no longer accepts it. */
export type McpDeps = {
  renewSignIn(organization_id: number, grant: Grant, refresh_token: string): Promise<Tokens | { problem: string; ended: boolean }>
}

/** The agents of other vendors that the operator has registered, by id. */
export type AgentDeps = { agents: ReadonlyMap<string, RegisteredAgent> }

/** The models of an organization, as they are configured now. */
export type OrganizationModels = (db: Db, organization_id: number) => Promise<ModelCatalog>

/** `compact_tokens`: from which size on a conversation is compacted, at most. */
export type ModelDeps = { models: ModelCatalog; model_timeouts: ModelRequest['timeouts']; compact_tokens: number }

/** What one file, one pack and all packs of a run may take, in bytes. */
export type CheckpointDeps = { checkpoints: { max_file_bytes: number; max_pack_bytes: number; max_run_bytes: number } }

/** Maximum duration of all setup commands of a repository, and of one command of an agent. */
export type CommandDeps = { setup_ms: number; tool_seconds: number }

/** How long a run waits for CI after a push: in all, for its first check, and between two polls of a forge. */
export type CheckDeps = { ci_wait_seconds: number; ci_first_seconds: number; ci_poll_seconds: number }

/** Whether a model reviews changes, which one, and how much it thinks; `model` null: that of the run. */
type ReviewSettings = { enabled: boolean; model: string | null; effort: ReasoningEffort }

/** Whether a person approves changes of CI workflows before a push, and how a model reviews commits and pull requests. */
export type ReviewDeps = { approve_ci_changes: boolean; review: ReviewSettings }

/** How long a run may be queued and wait for an answer, and how many leases a turn may lose. */
export type WaitDeps = { queue_seconds: number; answer_seconds: number; max_losses: number }

/** The ceilings of the service, and the time from the start of a turn to its deadline. */
export type CeilingDeps = { ceilings: Ceilings; turn_wall_seconds: number }
