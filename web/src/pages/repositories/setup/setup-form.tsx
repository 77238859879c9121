import type { Result } from '../../../../../src/contract/calls.ts'
import { call } from '../../../api/client.ts'
import { repositoriesQuery } from '../../../api/queries.ts'
import { ApiForm, SelectField, TextField } from '../../../components/form/api-form.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { useRepositoryReason } from '../../../components/permission.ts'
import { moment } from '../../../text/format.ts'
import { setupQuery } from '../repository-queries.ts'
import { CommandFields } from './command-fields.tsx'
import { bodyOf, draftOf, problemOf } from './setup-draft.ts'
import { SetupTrial } from './setup-trial.tsx'
import { VariableFields } from './variable-fields.tsx'

type Props = { repo_id: number; saved: Result<'getSetupCommands'> }

/** Changes the setup commands of a repository, and tries those that are saved. */
export function SetupForm({ repo_id, saved }: Props) {
  const forbidden = useRepositoryReason()
  const { draft, field, changed, props } = useForm({
    saved: draftOf(saved),
    send: edited => call('setSetupCommands', { params: { repo_id }, body: bodyOf(edited) }),
    stored: setupQuery(repo_id),
    refresh: [repositoriesQuery],
    done: 'Saved',
  })
  const locked = forbidden !== null
  const note = saved.updated_at && (
    <span className="text-faint text-xs">Last changed {moment(saved.updated_at)}</span>
  )
  return (
    <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
      <ApiForm
        {...props}
        label="Setup commands"
        forbidden={forbidden}
        changed={changed}
        missing={problemOf(draft)}
        submit="Save"
        note={note}
      >
        <CommandFields
          {...field('commands')}
          label="Command"
          hint="Lines of bash, executed in one shell in the folder of the repository, before the agent starts. They have all secrets."
          locked={locked}
        />
        <CommandFields
          {...field('maintenance_commands')}
          label="Maintenance command"
          hint="Executed instead where an environment of another commit is reused: what must be repeated when sources change."
          locked={locked}
        />
        <VariableFields {...field('variables')} locked={locked} />
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            {...field('on_failure')}
            label="When a command fails"
            options={[
              ['fail', 'The run fails'],
              ['continue', 'The agent starts, and is informed'],
            ]}
          />
          <TextField
            {...field('timeout_seconds')}
            label="Timeout (seconds)"
            hint="For all of them together."
            type="number"
          />
        </div>
      </ApiForm>
      <SetupTrial has_commands={saved.commands.length > 0} changed={changed} />
    </div>
  )
}
