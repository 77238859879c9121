import { actionTool } from '../../contract/runs/action-tools.ts'

/**
 * Names of ACTIONs that leave the files of a run unchanged. Any other tool may have changed them, including
 * tools added later.
 */
export const tools_without_effect: readonly string[] = [
  ...[
    actionTool.read,
    actionTool.search,
    actionTool.web_fetch,
    actionTool.plan,
    actionTool.ask,
    actionTool.finish,
    actionTool.start_run,
    actionTool.get_run,
  ],
  ...[
    actionTool.organization_rules,
    actionTool.user_custom_prompt,
    actionTool.repository_instructions,
    actionTool.sandbox_secrets,
    actionTool.mcp_connections,
    actionTool.context_compacted,
    actionTool.git_push,
    actionTool.check,
  ],
]

/** Kinds of calls, in the words of the Agent Client Protocol, that change nothing. */
const kinds_without_effect: readonly unknown[] = ['read', 'search', 'think', 'fetch', 'switch_mode']

export const mayChangeFiles = (tool_name: string): boolean => !tools_without_effect.includes(tool_name)

/**
 * Whether a call may have had an effect of any kind. `kind`: what an agent of another vendor states about a
 * call of its own tools, whose names are unknown.
 */
export const mayHaveEffect = (tool_name: string, kind?: string): boolean =>
  mayChangeFiles(tool_name) && !kinds_without_effect.includes(kind)
