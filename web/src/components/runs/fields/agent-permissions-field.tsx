import type { AgentPermissions } from '../../../../../src/contract/organizations/agent-permissions.ts'
import { type FieldProps, SelectField } from '../../form/api-form.tsx'

/**
 * What agents of other vendors get when they request a permission. Null: what the operator has set for the
 * agent.
 */
export const AgentPermissionsField = (field: Omit<FieldProps<AgentPermissions | null>, 'label'>) => (
  <SelectField
    {...field}
    label="Requests for permissions"
    hint="Of agents of other vendors. A stricter setting of the operator for an agent stays."
    name="agent_permissions"
    options={[
      [null, 'As set for the agent'],
      ['allow', 'Allow them'],
      ['ask', 'Ask a person'],
      ['deny', 'Deny them'],
    ]}
  />
)
