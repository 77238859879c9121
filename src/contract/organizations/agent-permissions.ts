/** What an agent of another vendor gets when it requests a permission, the strictest last. */
export const agent_permissions = ['allow', 'ask', 'deny'] as const
export type AgentPermissions = (typeof agent_permissions)[number]
