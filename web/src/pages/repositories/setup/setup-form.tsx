import type { Result } from '../../../../../src/contract/calls.ts'
import { fieldMessages, messageWithin } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { repositoriesQuery } from '../../../api/queries.ts'
import { ApiForm, SelectField, TextField } from '../../../components/form/api-form.tsx'
import { useRequest } from '../../../components/form/use-request.ts'
import { useRepositoryReason } from '../../../components/permission.ts'
import { moment } from '../../../text/format.ts'
import { setupQuery } from '../repository-queries.ts'
import { CommandFields } from './command-fields.tsx'
import { bodyOf, draftOf, problemOf, type SetupDraft } from './setup-draft.ts'
import { VariableFields } from './variable-fields.tsx'

type Props = {
  repo_id: number
  saved: Result<'getSetupCommands'>
  touched: Partial<SetupDraft>
  on_touch: (touched: Partial<SetupDraft>) => void
}

/** Changes the setup commands of a repository. */
export function SetupForm({ repo_id, saved, touched, on_touch }: Props) {
  const forbidden = useRepositoryReason()
  const now = { ...draftOf(saved), ...touched }
  const set = (change: Partial<SetupDraft>) => on_touch({ ...touched, ...change })
  const save = useRequest(() => call('setSetupCommands', { params: { repo_id }, body: bodyOf(now) }), {
    stored: setupQuery(repo_id),
    refresh: [repositoriesQuery],
    done: 'Saved',
    on_done: () => on_touch({}),
  })
  const problems = fieldMessages(save.error)
  const locked = forbidden !== null
  return (
    <ApiForm
      label="Setup commands"
      request={save}
      fields={Object.keys(problems)}
      forbidden={forbidden}
      changed={Object.keys(touched).length > 0}
      missing={problemOf(now)}
      submit="Save"
      note={
        saved.updated_at && (
          <span className="text-faint text-xs">Last changed {moment(saved.updated_at)}</span>
        )
      }
    >
      <CommandFields
        label="Command"
        hint="Lines of bash, executed in one shell in the folder of the repository, before the agent starts. They have all secrets."
        commands={now.commands}
        on_change={commands => set({ commands })}
        problem={messageWithin(problems, 'commands')}
        locked={locked}
      />
      <CommandFields
        label="Maintenance command"
        hint="Executed instead where an environment of another commit is reused: what must be repeated when sources change."
        commands={now.maintenance_commands}
        on_change={maintenance_commands => set({ maintenance_commands })}
        problem={messageWithin(problems, 'maintenance_commands')}
        locked={locked}
      />
      <VariableFields
        variables={now.variables}
        on_change={variables => set({ variables })}
        problem={messageWithin(problems, 'variables')}
        locked={locked}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="When a command fails"
          problem={problems.on_failure}
          value={now.on_failure}
          on_change={on_failure => set({ on_failure })}
          options={[
            ['fail', 'The run fails'],
            ['continue', 'The agent starts, and is informed'],
          ]}
        />
        <TextField
          label="Timeout (seconds)"
          hint="For all of them together."
          problem={problems.timeout_seconds}
          type="number"
          value={now.timeout_seconds}
          on_change={timeout_seconds => set({ timeout_seconds })}
        />
      </div>
    </ApiForm>
  )
}
