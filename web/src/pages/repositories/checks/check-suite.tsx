import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { fieldMessages, messageWithin } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { useRepositoryReason } from '../../../components/permission.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Field, Switch, TextArea } from '../../../ui/field.tsx'
import { notify } from '../../../ui/toast.ts'
import { checkSuiteQuery } from '../repository-queries.ts'
import {
  bodyOf,
  type CheckRule,
  type CheckSuite,
  type CheckSuiteDraft,
  draftOf,
  no_rule,
} from './check-suite-draft.ts'

type Props = { repo_id: number; saved: CheckSuite; names: string[] }

/** How runs treat failing checks. `names`: the commands of the service. */
export function CheckSuiteForm({ repo_id, saved, names }: Props) {
  const queries = useQueryClient()
  const forbidden = useRepositoryReason()
  const [touched, setTouched] = useState<CheckSuiteDraft | null>(null)
  const now = touched ?? draftOf(saved, names)
  const save = useMutation({
    mutationFn: () => call('updateCheckSuiteSettings', { query: { repo_id }, body: bodyOf(now) }),
    onSuccess: set_now => {
      queries.setQueryData(checkSuiteQuery(repo_id).queryKey, set_now)
      setTouched(null)
      notify('Saved')
    },
  })
  const problems = fieldMessages(save.error)
  const problem = ['ignored_checks', 'check_retry_counts', 'custom_prompts']
    .map(field => messageWithin(problems, field))
    .find(Boolean)
  return (
    <ApiForm
      label="Failing checks"
      request={save}
      fields={Object.keys(problems)}
      forbidden={forbidden}
      changed={touched !== null}
      missing={touched?.attempts === '' ? 'Enter the attempts first' : null}
      submit="Save"
      variant="primary"
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Attempts"
          hint="How often the agent works on a failed check of a commit."
          problem={problems.check_retry_count}
          type="number"
          value={now.attempts}
          on_change={attempts => setTouched({ ...now, attempts })}
        />
        <TextField
          label="Urgent apps"
          hint="Their failures are handled while other checks still run. Separated by commas."
          problem={messageWithin(problems, 'high_priority_apps')}
          value={now.apps}
          on_change={apps => setTouched({ ...now, apps })}
        />
      </div>
      <ul className="space-y-2">
        {Object.entries(now.rules).map(([name, rule]) => (
          <RuleRow
            key={name}
            name={name}
            rule={rule}
            on_change={change =>
              setTouched({ ...now, rules: { ...now.rules, [name]: { ...rule, ...change } } })
            }
          />
        ))}
      </ul>
      {problem && (
        <p role="alert" className="text-bad text-xs">
          {problem}
        </p>
      )}
      {forbidden === null && (
        <AddName
          taken={Object.keys(now.rules)}
          on_add={name => setTouched({ ...now, rules: { ...now.rules, [name]: no_rule } })}
        />
      )}
    </ApiForm>
  )
}

type RowProps = { name: string; rule: CheckRule; on_change: (change: Partial<CheckRule>) => void }

const RuleRow = ({ name, rule, on_change }: RowProps) => (
  <li>
    <details className="rounded-lg border border-line bg-surface">
      <summary className="cursor-pointer px-3 py-2">
        <span className="ml-1 font-medium [overflow-wrap:anywhere]">{visible(name)}</span>
        <span className="ml-2 inline-flex gap-1">
          {rule.ignored && <Badge>Ignored</Badge>}
          {rule.attempts !== '' && (
            <Badge>{rule.attempts === '1' ? '1 attempt' : `${rule.attempts} attempts`}</Badge>
          )}
          {rule.prompt.trim() !== '' && <Badge>Instructions</Badge>}
        </span>
      </summary>
      <div className="space-y-3 border-line border-t p-3">
        <Switch
          label="Ignore this check"
          checked={rule.ignored}
          onChange={event => on_change({ ignored: event.target.checked })}
        />
        <TextField
          label={`Attempts for ${name}`}
          hint="Empty: as many as for the other checks."
          type="number"
          value={rule.attempts}
          on_change={attempts => on_change({ attempts })}
        />
        <Field label={`Instructions for ${name}`} hint="Added to what the agent gets when this check fails.">
          {props => (
            <TextArea
              {...props}
              rows={3}
              value={rule.prompt}
              onChange={event => on_change({ prompt: event.target.value })}
            />
          )}
        </Field>
      </div>
    </details>
  </li>
)

/** Adds a check that was not seen yet. */
function AddName({ taken, on_add }: { taken: string[]; on_add: (name: string) => void }) {
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  const reason =
    name === '' ? 'Enter a name first' : taken.includes(name) ? 'This check is in the list' : null
  return (
    <div className="flex items-end gap-2">
      <TextField label="Another check" value={typed} on_change={setTyped} />
      <Button
        reason={reason}
        className="h-8!"
        onClick={() => {
          on_add(name)
          setTyped('')
        }}
      >
        <Plus aria-hidden className="size-4" /> Add
      </Button>
    </div>
  )
}
