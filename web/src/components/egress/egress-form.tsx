import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { egress_presets } from '../../../../src/contract/organizations/egress-presets.ts'
import { fieldMessages, messageWithin } from '../../api/api-error.ts'
import { Field, Select } from '../../ui/field.tsx'
import { notify } from '../../ui/toast.ts'
import { ApiForm } from '../form/api-form.tsx'
import type { Egress, EgressTarget } from './egress-target.ts'

type Draft = {
  agent: Egress['agent']['mode']
  setup: Egress['setup']['mode']
  presets: Egress['agent']['presets']
}

const agent_modes = { off: 'No network', allowlist: 'Allowed hosts only' } as const
const setup_modes = { open: 'Every public host', allowlist: 'Allowed hosts only', off: 'No network' } as const

const draftOf = ({ agent, setup }: Egress): Draft => ({
  agent: agent.mode,
  setup: setup.mode,
  presets: agent.presets,
})

/** Changes the modes and the package registries; the hosts stay. */
export function EgressForm({ target: { saved, inherited, forbidden, set: send } }: { target: EgressTarget }) {
  const [touched, setTouched] = useState<Partial<Draft>>({})
  const now = { ...draftOf(saved), ...touched }
  const set = (change: Partial<Draft>) => setTouched(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () =>
      send({
        agent: { mode: now.agent, presets: now.presets, allow: saved.agent.allow },
        setup: { mode: now.setup },
      }),
    onSuccess: () => {
      setTouched({})
      notify('Saved')
    },
  })
  const problems = fieldMessages(save.error)
  const inherited_presets = inherited?.agent.presets ?? []
  return (
    <ApiForm
      label="Network access"
      request={save}
      fields={[
        'agent.mode',
        'setup.mode',
        ...Object.keys(problems).filter(name => name.startsWith('agent.presets')),
      ]}
      forbidden={forbidden}
      changed={Object.keys(touched).length > 0}
      submit="Save"
      variant="primary"
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <ModeField
          label="Commands of agents"
          modes={agent_modes}
          value={now.agent}
          unset={unsetAgent(inherited)}
          problem={problems['agent.mode']}
          on_change={agent => set({ agent })}
        />
        <ModeField
          label="Setup commands"
          modes={setup_modes}
          value={now.setup}
          unset={`${inherited ? 'As the organization' : 'Default'}: ${setup_modes[inherited?.setup.mode ?? 'open']}`}
          problem={problems['setup.mode']}
          on_change={setup => set({ setup })}
        />
      </div>
      <fieldset>
        <legend className="mb-1 font-medium text-muted text-xs">
          Package registries that may be reached
        </legend>
        <div className="flex flex-wrap gap-x-5 gap-y-1">
          {egress_presets.map(name => {
            const is_inherited = inherited_presets.includes(name)
            return (
              <label key={name} className="inline-flex min-h-6 items-center gap-2">
                <input
                  type="checkbox"
                  className="size-4 accent-(--color-accent)"
                  disabled={is_inherited}
                  checked={is_inherited || now.presets.includes(name)}
                  onChange={event =>
                    set({
                      presets: egress_presets.filter(other =>
                        other === name ? event.target.checked : now.presets.includes(other),
                      ),
                    })
                  }
                />
                {name}
              </label>
            )
          })}
        </div>
        <p className="mt-1 text-faint text-xs">
          {messageWithin(problems, 'agent.presets') ??
            (inherited_presets.length > 0
              ? 'Hosts of the organization apply to all its repositories. Change them in the settings of the organization.'
              : 'All hosts that installing from the registry needs.')}
        </p>
      </fieldset>
    </ApiForm>
  )
}

function unsetAgent(inherited: Egress | null): string {
  if (!inherited) return 'Default: no network, unless the operator has set mirrors'
  return `As the organization: ${inherited.agent.mode === null ? 'the default of the service' : agent_modes[inherited.agent.mode]}`
}

type ModeProps<Mode extends string> = {
  label: string
  modes: Record<Mode, string>
  value: Mode | null
  /** What applies without a choice. */
  unset: string
  problem: string | undefined
  on_change: (mode: Mode | null) => void
}

function ModeField<Mode extends string>({ label, modes, value, unset, problem, on_change }: ModeProps<Mode>) {
  const names = Object.keys(modes) as Mode[]
  return (
    <Field label={label} problem={problem}>
      {props => (
        <Select
          {...props}
          value={value ?? ''}
          onChange={event => on_change(names.find(name => name === event.target.value) ?? null)}
        >
          <option value="">{unset}</option>
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
