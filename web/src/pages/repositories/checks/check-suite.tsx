import { Plus } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../../api/client.ts'
import { ApiForm, SwitchField, TextAreaField, TextField } from '../../../components/form/api-form.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { useRepositoryReason } from '../../../components/permission.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { checkSuiteQuery } from '../repository-queries.ts'
import { bodyOf, type CheckRule, type CheckSuite, draftOf, no_rule } from './check-suite-draft.ts'

type Props = { repo_id: number; saved: CheckSuite; names: string[] }

/** How runs treat failing checks. `names`: the commands of the service. */
export function CheckSuiteForm({ repo_id, saved, names }: Props) {
  const forbidden = useRepositoryReason()
  const { draft, set, field, changed, props } = useForm({
    saved: draftOf(saved, names),
    send: edited => call('updateCheckSuiteSettings', { query: { repo_id }, body: bodyOf(edited) }),
    wire: {
      attempts: ['check_retry_count'],
      apps: ['high_priority_apps'],
      rules: ['ignored_checks', 'check_retry_counts', 'custom_prompts'],
    },
    stored: checkSuiteQuery(repo_id),
    done: 'Saved',
  })
  const { problem } = field('rules')
  return (
    <ApiForm
      {...props}
      label="Failing checks"
      forbidden={forbidden}
      changed={changed}
      missing={draft.attempts === '' ? 'Enter the attempts first' : null}
      submit="Save"
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          {...field('attempts')}
          label="Attempts"
          hint="How often the agent works on a failed check of a commit."
          type="number"
        />
        <TextField
          {...field('apps')}
          label="Urgent apps"
          hint="Their failures are handled while other checks still run. Separated by commas."
        />
      </div>
      <ul className="space-y-2">
        {Object.entries(draft.rules).map(([name, rule]) => (
          <RuleRow
            key={name}
            name={name}
            rule={rule}
            on_change={change => set({ rules: { ...draft.rules, [name]: { ...rule, ...change } } })}
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
          taken={Object.keys(draft.rules)}
          on_add={name => set({ rules: { ...draft.rules, [name]: no_rule } })}
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
        <SwitchField
          label="Ignore this check"
          value={rule.ignored}
          on_change={ignored => on_change({ ignored })}
        />
        <TextField
          label={`Attempts for ${name}`}
          hint="Empty: as many as for the other checks."
          type="number"
          value={rule.attempts}
          on_change={attempts => on_change({ attempts })}
        />
        <TextAreaField
          label={`Instructions for ${name}`}
          hint="Added to what the agent gets when this check fails."
          rows={3}
          value={rule.prompt}
          on_change={prompt => on_change({ prompt })}
        />
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
