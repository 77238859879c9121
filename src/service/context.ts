import type { Scope } from '../contract/endpoint.ts'
import type { ModelApi, ModelProvider } from '../contract/model-settings.ts'
import type { ModelDetail, ModelTest } from '../contract/organizations/models.ts'
import type { OrganizationLimit } from '../contract/organizations/organization-limits.ts'
import type { WireProfile } from '../contract/organizations/tokens.ts'
import type { RunDiff } from '../contract/runs/run-diff.ts'
import type { RunFileEntry, RunFiles } from '../contract/runs/run-files.ts'
import type { Role } from '../core/access/permissions.ts'
import type { Window } from '../core/access/rate-window.ts'
import type { RegisteredAgent } from '../core/agents/registered-agents.ts'
import type { HostLookup } from '../core/network/public-address.ts'
import type { RepositoryKind } from '../core/repositories/repository-kind.ts'
import type { Price } from '../core/runs/budget/pot.ts'
import type { KnownValue } from '../core/secrets/known-value.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import type { AttemptOutcome } from '../core/webhooks/webhook-retries.ts'
import type { Forges } from '../forge/forges.ts'
import type { Access } from '../store/access/token-access.ts'
import type { Db, Transactional } from '../store/database.ts'
import type { RunAccess, RunHead } from '../store/runs/run-heads.ts'
import type { Limiter } from './access/rate-limiter.ts'
import type { GitServer } from './forges/git-server-port.ts'
import type { McpSignInClient } from './organizations/mcp-sign-in-port.ts'
import type { PullRequestGit } from './pull-requests/git-port.ts'
import type { LogPages } from './runs/logs/log-page-cache.ts'

type MirroredRepository = { id: number; url: string; kind: RepositoryKind }

/**
 * Finds the commit that a run would start from, in the local mirror alone
 * (specification.md#create-and-resume). `wait_ms`: of a first fetch, by default 2 s.
 */
type BaseResolver = (
  repository: MirroredRepository,
  base_ref: string | null,
  wait_ms?: number,
) => Promise<
  | { state: 'known'; ref: string; sha: string }
  | { state: 'unknown_ref' }
  | { state: 'empty' }
  | { state: 'no_mirror' }
>

/** Reads the address of a repository that may be registered. `reason` is for the caller. */
type RepositoryReader = (
  url: string,
) => Promise<
  | { ok: true; kind: RepositoryKind; url: string; name: string; full_name: string }
  | { ok: false; reason: string }
>

/**
 * Lists path and object name of the files that decide what setup commands prepare at a commit; null: this
 * process has no mirror with them.
 */
type ManifestLister = (
  repository_id: number,
  sha: string,
  commands: readonly string[],
) => Promise<[path: string, object: string][] | null>

type StoredRun = { organization_id: number; id: number; repository_id: number | null }

/**
 * Returns the change between two trees that were kept of a run, from its first `packs` packs. Null if they
 * are no longer available.
 */
type TreeReader = (
  run: StoredRun,
  between: { packs: number; from: string; to: string },
) => Promise<Pick<
  RunDiff,
  'files' | 'files_changed' | 'additions' | 'deletions' | 'patch' | 'patch_truncated'
> | null>

/** A tree that was kept of a run, from its first `packs` packs, or its base commit. */
type StoredTree = { packs: number; base_sha: string | null; root: string }
/** Why a path leads to nothing: there is nothing, a folder is something else, a file is a folder. */
export type PathProblem = { problem: 'missing' | 'no_folder' | 'is_folder' }
/**
 * Reads the files of kept trees. Null if they are no longer available. Rejects with an error named GitError
 * while they are unavailable.
 */
type FileReader = {
  list(
    run: StoredRun,
    tree: StoredTree,
    folder: { path: string; q: string | undefined; skip: number; limit: number },
  ): Promise<Pick<RunFiles, 'items' | 'total' | 'complete'> | PathProblem | null>
  /** `bytes`: at most the first `max_bytes` of a file; null for everything else. */
  read(
    run: StoredRun,
    tree: StoredTree,
    path: string,
    max_bytes: number,
  ): Promise<(Omit<RunFileEntry, 'name'> & { bytes: Buffer | null }) | PathProblem | null>
}

/**
 * Sends a message now and returns its outcome; never rejects. Private addresses are refused unless the
 * operator allows them.
 */
type WebhookPoster = (
  organization_id: number,
  to: { url: string; headers: Record<string, string>; body: string },
) => Promise<AttemptOutcome>

/** `price`: null for what is not known. */
export type UsableModel = { id: string; scripted: boolean; price: Price; endpoint: { api: ModelApi } | null }

export type ModelList = {
  get(id: string): UsableModel | null
  list(): { id: string; label: string; provider: string }[]
  /** All known and configured models, also those without a key. */
  describe(): DescribedModel[]
  /** Whether the models of a provider can be called. */
  has_provider(provider: ModelProvider): boolean
  default_model: string
}
type DescribedModel = Pick<ModelDetail, 'id' | 'label' | 'provider' | 'usable' | keyof ModelFacts>
type ModelFacts = Pick<
  ModelDetail,
  'context_tokens' | 'max_output_tokens' | 'price' | 'reasoning_effort' | 'tool_family'
>

/** A limit of the service's configuration. */
export type OperatorLimit = Pick<
  OrganizationLimit,
  'name' | 'summary' | 'value' | 'unit' | 'per' | 'window_seconds' | 'setting'
>

/** The outcome of a test call. */
export type TestedModel = Pick<ModelTest, 'latency_ms' | 'error' | 'cost_usd'>

/** Finds the access of a token; undefined for an unknown, expired or revoked one. */
export type AccessFinder = (key: {
  digest: Buffer
  organization_id: number | null
}) => Promise<Access | undefined>

/** Finds it together with a run of the organization. */
export type RunAccessFinder = (key: {
  digest: Buffer
  organization_id: number
  run_id: number
}) => Promise<RunAccess | undefined>

/** What every verb may use. Created once, by main. */
export type Services = {
  db: Transactional
  findAccess: AccessFinder
  findRunAccess: RunAccessFinder
  limiter: Limiter
  log_pages: LogPages
  base_url: string
  /**
   * The models of an organization as they are configured now: its own settings, before those of the operator.
   */
  organizationModels(db: Db, organization_id: number): Promise<ModelList>
  /** The agents of other vendors that the operator has registered, by id. */
  agents: ReadonlyMap<string, RegisteredAgent>
  /** Their versions that are installed on this machine; null: it does not know. */
  agent_versions: ReadonlyMap<string, string | null>
  /** Calls a model once; null: it has no key. */
  testModel(organization_id: number, id: string): Promise<TestedModel | null>
  /** Resolves the host of an address that an organization chose, without connecting. */
  lookUpHost(organization_id: number, url: string): Promise<HostLookup>
  resolveBase: BaseResolver
  /** Reads the remote of a repository in the background, for the next `resolveBase`. */
  refreshMirror(repository: MirroredRepository): void
  /** Returns the branch of a repository because of which no branch with this prefix can exist, or null. */
  blockingBranch(repository_id: number, prefix: string): Promise<string | null>
  listManifests: ManifestLister
  git: PullRequestGit
  /** The forges that organizations are connected to. */
  forges: Forges
  /** Whether forges may have private addresses, by the operator's choice. */
  allow_private_forges: boolean
  /** Hosts that may receive the codes of sign-ins by OAuth, over https. */
  oauth_redirect_hosts: ReadonlySet<string>
  mcp_sign_in: McpSignInClient
  git_server: GitServer
  readTrees: TreeReader
  files: FileReader
  /** The key under which commits name their run. */
  commit_trailer: string
  readRepositoryUrl: RepositoryReader
  sealer: Sealer
  /** Credentials of this process, which must never be stored. */
  known_values: readonly KnownValue[]
  /** The egress mode of runs where neither organization nor repository sets one. */
  default_egress: 'off' | 'allowlist'
  /** Seconds that a run may wait for a worker. */
  queue_seconds: number
  /** How many organizations a user may create. */
  organizations_per_user: number
  /** How many all users together may create. */
  max_organizations: number
  /** Seconds that a request waits for the result of a tool call. */
  tool_call_seconds: number
  /**
   * Calls `wake` after each change of the run that this process is notified of; returns the function that
   * ends the subscription.
   */
  onRun: (organization_id: number, run_id: number, wake: () => void) => () => void
  /**
   * Calls `cancel` when the client of this call has cancelled it, by a request to any process; returns the
   * function that ends the subscription.
   */
  onCancelled: (call: string, cancel: () => void) => () => void
  /** Seconds for which a prepared environment may be reused. */
  environment_seconds: number
  postWebhook: WebhookPoster
  /** Limits that the operator set, or their defaults; rates with their windows. */
  operator_limits: readonly OperatorLimit[]
  /** Whether webhooks may have private addresses, by the operator's choice. */
  allow_private_webhooks: boolean
}

/** The caller: a user with a token, which may allow less than the user's role. */
export type Actor = {
  user_id: number
  token_id: number
  kind: 'personal' | 'service' | 'browser'
  wire_profile: WireProfile
  /** The only organization that the token is valid for; null: all of its user. */
  token_organization_id: number | null
  /** The scopes of the token; null: all that the role allows. */
  granted: readonly string[] | null
  /** The only repositories that the token is valid for; null: all. */
  repository_ids: readonly number[] | null
  expires_at: Date | null
  /** Whether a program works with the token that signed its user in by OAuth. */
  by_program: boolean
}

/**
 * A verb's first argument: the services, the caller, and, for what belongs to an organization, that
 * organization and the caller's role.
 */
export type ActorContext = Services & {
  actor: Actor
  request_id: string
  /** The trace context for the work that the request starts; null when tracing is off. */
  traceparent: string | null
  windows: Window[]
  idempotency_key: string | null
  /**
   * The run whose logs are requested, read together with the token; null: no run, or it is not in the
   * organization.
   */
  run_head: RunHead | null
}
/** `scopes`: what the token allows in this organization. */
export type Context = ActorContext & { organization_id: number; role: Role; scopes: readonly Scope[] }
