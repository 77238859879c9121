/**
 * Names of ACTIONs after which the files of a run are what they were before. Whatever is not named here may have changed them, a tool
 * that is added later too.
 */
export const tools_without_effect = [
  ...['read', 'search', 'plan', 'ask', 'finish', 'start_run', 'get_run'],
  ...['organization_rules', 'user_custom_prompt', 'repository_instructions', 'sandbox_secrets', 'git_push'],
] as const

export const mayChangeFiles = (tool_name: string): boolean => !(tools_without_effect as readonly string[]).includes(tool_name)
