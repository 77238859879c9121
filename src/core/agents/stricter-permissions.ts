import { type AgentPermissions, agent_permissions } from '../../contract/organizations/agent-permissions.ts'

/**
 * Returns the stricter of the agent's policy and that of the organization; null: the organization has none.
 */
export function stricterPermissions(
  of_agent: AgentPermissions,
  of_organization: AgentPermissions | null,
): AgentPermissions {
  const strictness = (policy: AgentPermissions | null) =>
    policy === null ? -1 : agent_permissions.indexOf(policy)
  return strictness(of_organization) > strictness(of_agent) ? (of_organization ?? of_agent) : of_agent
}
