import { useQuery } from '@tanstack/react-query'
import { agentsQuery } from '../../../api/queries.ts'
import { SelectField } from '../../form/api-form.tsx'

type Props = { value: string; on_change: (agent_type: string) => void; problem: string | undefined }

/** Who works on the run. `''` is the default. Hidden while the built-in agent is the only one. */
export function AgentField(field: Props) {
  const known = useQuery(agentsQuery).data
  if (known === undefined || (known.agents.length < 2 && field.value === '')) return null
  const others = known.agents.filter(({ agent_type }) => agent_type !== known.default_agent)
  return (
    <SelectField
      {...field}
      label="Agent"
      name="agent"
      options={[['', 'Default (built-in)'], ...others.map(agent => [agent.agent_type, agent.label] as const)]}
    />
  )
}
