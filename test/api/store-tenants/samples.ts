import { mcpServerSettings } from '../../../src/contract/organizations/mcp-servers.ts'
import { no_budget } from '../../../src/contract/runs/run-limits.ts'
import type { CheckReport } from '../../../src/store/pull-requests/checks.ts'
import type { NewRun } from '../../../src/store/runs/runs.ts'

/** Input of the store whose content does not matter. */

export const startup = {
  spans: [],
  queue_ms: 1,
  claim_ms: 1,
  mirror_ms: 1,
  clone_ms: 1,
  setup_ms: 1,
  sandbox_ms: 1,
  first_model_byte_ms: 1,
  first_action_ms: 1,
  environment: null,
}
export const settlement = {
  to: 'again',
  seconds: 60,
  url: 'u',
  status: 503,
  error: 'e',
  latency_ms: 1,
  answer: null,
} as const
export const counts = { files_changed: 1, additions: 1, deletions: 1 }
const numbers = { base_sha: 'a', head_sha: 'b', ...counts }
export const invitation = {
  email: 'x@example.org',
  full_name: null,
  role: 'READER',
  digest: Buffer.from('x'),
  days: 1,
} as const
export const change = { ...numbers, files: [], patch: 'p', patch_truncated: false }
export const comment = { run_id: null, body: 'b', path: null, line: null, side: null, head_sha: 'c' }
export const pull_request = {
  ...numbers,
  title: 't',
  url: 'u',
  body: 'b',
  head_branch: 'h',
  base_branch: 'm',
}
export const run: Omit<NewRun, 'organization_id' | 'user_id' | 'repository_id' | 'parent_run_id'> = {
  source_type: 'API',
  agent_type: 'a',
  model: 'm',
  prompt: 'p',
  title: 't',
  tags: [],
  metadata: null,
  webhooks: null,
  base_ref: null,
  base_sha: null,
  auto_create_pr: true,
  budget: no_budget,
  deadline_seconds: 60,
}
export const no_settings = {
  check_retry_count: 1,
  ignored_checks: null,
  check_retry_counts: null,
  custom_prompts: null,
  high_priority_apps: null,
}
export const check: CheckReport = {
  head_sha: 'b',
  source: 'local',
  name: 'a',
  app: null,
  status: 'queued',
  conclusion: null,
  url: null,
  log_excerpt: null,
  attempt: 1,
  started_at: null,
  completed_at: null,
}
export const checkpoint = { seq: 1, through_seq: 2_000, tree: 't', head: null, branch: null, left_out: null }
export const pack = { tip: 't', base_sha: null, content: Buffer.from('p') }
export const mcp_server = { name: 'tickets', settings: mcpServerSettings({ command: 'x' }), user_id: 1 }
export const secret = { name: 'TOKEN', for_agent: null, key_id: 'k', sealed: Buffer.from('s'), user_id: 1 }
export const forge = {
  ...({
    kind: 'github',
    url: 'https://github.com',
    auth: 'token',
    login: null,
    app_slug: null,
    app_id: null,
    installation_id: null,
  } as const),
  problem: null,
  secrets: { key_id: 'k', sealed: Buffer.from('s') },
}
export const sandbox = {
  kind: 'agent',
  driver: 'd',
  host: 'h',
  limits: { max_memory_bytes: 1, cpus: 1, max_processes: 1, max_disk_bytes: 1, max_files: 1 },
} as const
export const taken = {
  peak_memory_bytes: 7,
  peak_disk_bytes: null,
  peak_processes: null,
  cpu_ms: 7,
  memory_kills: 0,
}
export const forge_delivery = {
  delivery: 'd',
  event: 'ping',
  once: null,
  subject: 'acme/app#1',
  task: null,
  outcome: 'seen',
}
export const message = { seq: 1, turn: 1, mode: 'steer', text: 'x', images: null } as const
export const egress = { mode: 'allowlist' as const, setup_mode: null, allow: [], presets: [] }
export const setup_commands = {
  commands: [],
  maintenance_commands: [],
  variables: {},
  on_failure: 'fail' as const,
  timeout_seconds: 60,
}
