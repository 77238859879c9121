import {
  type AgentPermissions,
  agent_permissions,
} from '../../../../../src/contract/organizations/agent-permissions.ts'
import { Field, Select } from '../../../ui/field.tsx'

type Props = {
  value: AgentPermissions | null
  on_change: (policy: AgentPermissions | null) => void
  problem: string | undefined
}

const labels: Record<AgentPermissions, string> = {
  allow: 'Allow them',
  ask: 'Ask a person',
  deny: 'Deny them',
}

/**
 * What agents of other vendors get when they request a permission. Null: what the operator has set for the
 * agent.
 */
export function AgentPermissionsField({ value, on_change, problem }: Props) {
  const hint = 'Of agents of other vendors. A stricter setting of the operator for an agent stays.'
  return (
    <Field label="Requests for permissions" hint={hint} problem={problem}>
      {props => (
        <Select
          {...props}
          name="agent_permissions"
          value={value ?? ''}
          onChange={event =>
            on_change(agent_permissions.find(policy => policy === event.target.value) ?? null)
          }
        >
          <option value="">As set for the agent</option>
          {agent_permissions.map(policy => (
            <option key={policy} value={policy}>
              {labels[policy]}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
