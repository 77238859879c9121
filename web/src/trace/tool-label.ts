import type { ServiceTool } from '../../../src/contract/runs/action-tools.ts'

/** What people call the actions of the service; a git command that has ended well is named by what it did. */
const labels: Record<ServiceTool, string | { done: string; failed: string }> = {
  organization_rules: 'Rules of the organization',
  user_custom_prompt: 'Custom prompt',
  repository_instructions: 'Instructions',
  sandbox_secrets: 'Secrets',
  egress_blocked: 'Blocked request',
  mcp_connections: 'MCP servers',
  git_clone: { done: 'Cloned', failed: 'Clone' },
  git_left_out: 'Left out of the checkout',
  git_checkout: { done: 'Checked out', failed: 'Checkout' },
  git_commit: { done: 'Committed', failed: 'Commit' },
  git_push: { done: 'Pushed', failed: 'Push' },
  create_pull_request: { done: 'Created a pull request', failed: 'Pull request' },
  workspace_restored: 'Restored the files',
  context_compacted: 'Compacted the conversation',
  setup_command: 'Setup',
  setup_changes: 'Files changed by the setup',
  setup_proof: 'Verification',
  setup_repair: 'Repaired the commands',
  setup_proposal: 'Detected commands',
  environment: 'Environment',
  check: 'Check',
  log_analysis: 'Log analysis',
}

/** Between the name of an MCP server, which has no underscore, and that of its tool. */
const OF_SERVER = /^([a-z][a-z0-9-]*)__(.+)$/

/** Whether a tool is that of an MCP server. */
export const isOfServer = (tool_name: string | null): boolean =>
  tool_name !== null && OF_SERVER.test(tool_name)

/**
 * The name of a tool as the page shows it: that of the agent's tools, words for the actions of the service,
 * `server › tool` for those of MCP servers.
 */
export function toolLabel(tool_name: string | null, failed: boolean): string {
  const label = Object.hasOwn(labels, tool_name ?? '')
    ? labels[tool_name as ServiceTool]
    : (tool_name ?? 'tool').replace(OF_SERVER, '$1 › $2')
  return typeof label === 'string' ? label : failed ? label.failed : label.done
}
