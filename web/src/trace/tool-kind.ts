import type { AgentTool, ServiceTool } from '../../../src/contract/runs/action-tools.ts'
import { textAt } from './fields.ts'

/** The kind of a tool, which decides how the page renders it. Unknown tools render as `tool`. */
export type ToolKind =
  | 'shell'
  | 'read'
  | 'write'
  | 'edit'
  | 'search'
  | 'git'
  | 'instructions'
  | 'question'
  | 'egress'
  | 'analysis'
  | 'compaction'
  | 'tool'

const agent_tools: Record<AgentTool, ToolKind> = {
  shell: 'shell',
  read: 'read',
  write: 'write',
  edit: 'edit',
  apply_patch: 'edit',
  search: 'search',
  web_fetch: 'read',
  ask: 'question',
  plan: 'tool',
  start_run: 'tool',
  get_run: 'tool',
  finish: 'tool',
}
/** Actions of the service itself. */
const service_tools: Record<ServiceTool, ToolKind> = {
  setup_command: 'shell',
  setup_proof: 'shell',
  setup_proposal: 'instructions',
  setup_repair: 'instructions',
  check: 'shell',
  setup_changes: 'git',
  environment: 'git',
  git_clone: 'git',
  git_left_out: 'git',
  git_checkout: 'git',
  git_commit: 'git',
  git_push: 'git',
  create_pull_request: 'git',
  workspace_restored: 'git',
  context_compacted: 'compaction',
  log_analysis: 'analysis',
  egress_blocked: 'egress',
  sandbox_secrets: 'instructions',
  mcp_connections: 'tool',
  repository_instructions: 'instructions',
  organization_rules: 'instructions',
  user_custom_prompt: 'instructions',
}
const kinds = new Map<string, ToolKind>([...Object.entries(agent_tools), ...Object.entries(service_tools)])

/**
 * True for actions of the service beside the agent, like the clone that runs while the model already thinks.
 */
export const isServiceTool = (tool_name: string | null) => Object.hasOwn(service_tools, tool_name ?? '')

/**
 * Kinds of calls of other vendors' agents (ACP). Such a kind is the name of a call that has no other, or a
 * part of its input.
 */
const agent_kinds = new Map<string, ToolKind>([
  ['execute', 'shell'],
  ['read', 'read'],
  ['edit', 'edit'],
  ['search', 'search'],
])

export const toolKind = (tool_name: string | null, input?: unknown): ToolKind =>
  kinds.get(tool_name ?? '') ??
  agent_kinds.get(tool_name ?? '') ??
  agent_kinds.get(textAt(input, 'kind') ?? '') ??
  'tool'
