/** Tools that the model calls. `toolInputs` describes what each takes. */
export const agentTools = [
  ...(['shell', 'read', 'write', 'edit', 'apply_patch', 'search'] as const),
  ...(['web_fetch'] as const),
  ...(['plan', 'ask', 'start_run', 'get_run', 'finish'] as const),
] as const

/** Tools that a run can be created without: a turn needs `finish` to end. */
export const optionalTools = agentTools.filter(name => name !== 'finish')

/** Actions that the service itself performs for a run and records in its trace like tool calls. */
export const serviceTools = [
  ...[
    'organization_rules',
    'user_custom_prompt',
    'repository_instructions',
    'sandbox_secrets',
    'egress_blocked',
    'mcp_connections',
  ],
  ...[
    'git_clone',
    'git_left_out',
    'git_checkout',
    'git_commit',
    'git_push',
    'create_pull_request',
    'workspace_restored',
    'context_compacted',
  ],
  ...[
    'setup_command',
    'setup_changes',
    'setup_proof',
    'setup_repair',
    'setup_proposal',
    'environment',
    'check',
    'log_analysis',
  ],
] as const

export type AgentTool = (typeof agentTools)[number]
export type ServiceTool = (typeof serviceTools)[number]
export type ActionTool = AgentTool | ServiceTool

const namesOf = <N extends string>(names: readonly N[]) =>
  Object.fromEntries(names.map(name => [name, name])) as { readonly [K in N]: K }

/**
 * Every `tool_name` of an `ACTION` entry that the service writes: `actionTool.git_clone` is `'git_clone'`.
 * Only recorded sessions bring names of their own. The module loads no schema, so that the web page can use
 * it.
 */
export const actionTool = namesOf<ActionTool>([...agentTools, ...serviceTools])
