import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Result } from '../../../../src/contract/calls.ts'
import { egress_presets } from '../../../../src/contract/organizations/egress-presets.ts'
import { fieldMessages, messageWithin } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { egressQuery } from '../../api/queries.ts'
import { Field, Select } from '../../ui/field.tsx'
import { notify } from '../../ui/toast.ts'
import { ApiForm } from '../api-form.tsx'
import { useRepositoryReason } from '../permission.ts'

type Egress = Result<'getRepositoryEgress'>
type Draft = { agent: Egress['agent']['mode']; setup: Egress['setup']['mode']; presets: Egress['agent']['presets'] }

const agent_modes = { off: 'No network', allowlist: 'Allowed hosts only' } as const
const setup_modes = { open: 'Every public host', allowlist: 'Allowed hosts only', off: 'No network' } as const

const draftOf = ({ agent, setup }: Egress): Draft => ({ agent: agent.mode, setup: setup.mode, presets: agent.presets })

/** Changes the modes of a repository and its package registries; its hosts stay. */
export function EgressForm({ repo_id, saved, organization }: { repo_id: number; saved: Egress; organization: Egress }) {
  const queries = useQueryClient()
  const forbidden = useRepositoryReason()
  const [touched, setTouched] = useState<Partial<Draft>>({})
  const now = { ...draftOf(saved), ...touched }
  const set = (change: Partial<Draft>) => setTouched(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () => {
      const agent = { mode: now.agent, presets: now.presets, allow: saved.agent.allow }
      return call('setRepositoryEgress', { params: { repo_id }, body: { agent, setup: { mode: now.setup } } })
    },
    onSuccess: set_now => {
      queries.setQueryData(egressQuery(repo_id).queryKey, set_now)
      setTouched({})
      notify('Saved')
    },
  })
  const problems = fieldMessages(save.error)
  const of_organization = organization.agent.presets
  return (
    <ApiForm
      label="Network access"
      request={save}
      fields={['agent.mode', 'setup.mode', ...Object.keys(problems).filter(name => name.startsWith('agent.presets'))]}
      forbidden={forbidden}
      missing={Object.keys(touched).length === 0 ? 'No changes to save' : null}
      submit="Save"
      variant="primary"
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <ModeField
          label="Commands of agents"
          modes={agent_modes}
          value={now.agent}
          inherited={organization.agent.mode === null ? 'the default of the service' : agent_modes[organization.agent.mode]}
          problem={problems['agent.mode']}
          on_change={agent => set({ agent })}
        />
        <ModeField
          label="Setup commands"
          modes={setup_modes}
          value={now.setup}
          inherited={setup_modes[organization.setup.mode ?? 'open']}
          problem={problems['setup.mode']}
          on_change={setup => set({ setup })}
        />
      </div>
      <fieldset>
        <legend className="mb-1 font-medium text-muted text-xs">Package registries that may be reached</legend>
        <div className="flex flex-wrap gap-x-5 gap-y-1">
          {egress_presets.map(name => {
            const inherited = of_organization.includes(name)
            return (
              <label key={name} className="inline-flex min-h-6 items-center gap-2">
                <input
                  type="checkbox"
                  className="size-4 accent-(--color-accent)"
                  disabled={inherited}
                  checked={inherited || now.presets.includes(name)}
                  onChange={event =>
                    set({ presets: egress_presets.filter(other => (other === name ? event.target.checked : now.presets.includes(other))) })
                  }
                />
                {name}
              </label>
            )
          })}
        </div>
        <p className="mt-1 text-faint text-xs">
          {messageWithin(problems, 'agent.presets') ??
            (of_organization.length > 0
              ? 'Those of the organization apply to all its repositories, and are changed there.'
              : 'All hosts that installing from the registry needs.')}
        </p>
      </fieldset>
    </ApiForm>
  )
}

type ModeProps<Mode extends string> = {
  label: string
  modes: Record<Mode, string>
  value: Mode | null
  /** What the organization has. */
  inherited: string
  problem: string | undefined
  on_change: (mode: Mode | null) => void
}

function ModeField<Mode extends string>({ label, modes, value, inherited, problem, on_change }: ModeProps<Mode>) {
  const names = Object.keys(modes) as Mode[]
  return (
    <Field label={label} problem={problem}>
      {props => (
        <Select {...props} value={value ?? ''} onChange={event => on_change(names.find(name => name === event.target.value) ?? null)}>
          <option value="">As the organization: {inherited}</option>
          {names.map(name => (
            <option key={name} value={name}>
              {modes[name]}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
