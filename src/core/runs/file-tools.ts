/** Names of ACTIONs that leave the files of a run unchanged. Any other tool may have changed them, including tools added later. */
export const tools_without_effect = [
  ...['read', 'search', 'plan', 'ask', 'finish', 'start_run', 'get_run'],
  ...['organization_rules', 'user_custom_prompt', 'repository_instructions', 'sandbox_secrets', 'git_push'],
] as const

export const mayChangeFiles = (tool_name: string): boolean => !(tools_without_effect as readonly string[]).includes(tool_name)
