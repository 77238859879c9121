import { egress_presets } from '../../../../src/contract/organizations/egress-presets.ts'
import { named } from '../filters.tsx'
import { ApiForm, SelectField } from '../form/api-form.tsx'
import { useForm } from '../form/use-form.ts'
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
export function EgressForm({ target: { saved, inherited, forbidden, set } }: { target: EgressTarget }) {
  const { draft, field, changed, props } = useForm({
    saved: draftOf(saved),
    send: ({ agent, setup, presets }) =>
      set({ agent: { mode: agent, presets, allow: saved.agent.allow }, setup: { mode: setup } }),
    wire: { agent: ['agent.mode'], setup: ['setup.mode'], presets: ['agent.presets'] },
    done: 'Saved',
  })
  const inherited_presets = inherited?.agent.presets ?? []
  const presets = field('presets')
  const unset_setup = `${inherited ? 'As the organization' : 'Default'}: ${setup_modes[inherited?.setup.mode ?? 'open']}`
  return (
    <ApiForm {...props} label="Network access" forbidden={forbidden} changed={changed} submit="Save">
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          {...field('agent')}
          label="Commands of agents"
          options={[[null, unsetAgent(inherited)], ...named(agent_modes)]}
        />
        <SelectField
          {...field('setup')}
          label="Setup commands"
          options={[[null, unset_setup], ...named(setup_modes)]}
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
                  checked={is_inherited || draft.presets.includes(name)}
                  onChange={event =>
                    presets.on_change(
                      egress_presets.filter(other =>
                        other === name ? event.target.checked : draft.presets.includes(other),
                      ),
                    )
                  }
                />
                {name}
              </label>
            )
          })}
        </div>
        <p className="mt-1 text-faint text-xs">
          {presets.problem ??
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
