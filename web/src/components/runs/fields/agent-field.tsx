import { useQuery } from '@tanstack/react-query'
import { agentsQuery } from '../../../api/queries.ts'
import { visible } from '../../../text/visible.ts'
import { Field, Select } from '../../../ui/field.tsx'

type Props = { value: string; on_change: (agent_type: string) => void; problem: string | undefined }

/** Who works on the run. `''` is the default. Hidden while the built-in agent is the only one. */
export function AgentField({ value, on_change, problem }: Props) {
  const known = useQuery(agentsQuery).data
  if (known === undefined || (known.agents.length < 2 && value === '')) return null
  return (
    <Field label="Agent" problem={problem}>
      {props => (
        <Select {...props} name="agent" value={value} onChange={event => on_change(event.target.value)}>
          <option value="">Default (built-in)</option>
          {known.agents
            .filter(({ agent_type }) => agent_type !== known.default_agent)
            .map(({ agent_type, label }) => (
              <option key={agent_type} value={agent_type}>
                {visible(label)}
              </option>
            ))}
        </Select>
      )}
    </Field>
  )
}
