import { Plus, Trash2 } from 'lucide-react'
import type { Result } from '../../../../../src/contract/calls.ts'
import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { useRepositoryReason } from '../../../components/permission.ts'
import { Button } from '../../../ui/button.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { checkCommandsQuery } from '../repository-queries.ts'

type Check = { name: string; command: string; timeout_seconds: string }
type Props = { repo_id: number; saved: Result<'getCheckCommands'> }

const DEFAULT_TIMEOUT_SECONDS = '600'

/** The commands that the service itself runs on what a run has pushed. */
export function CheckCommands({ repo_id, saved }: Props) {
  const forbidden = useRepositoryReason()
  const { field, changed, props } = useForm({
    saved: {
      checks: saved.checks.map(check => ({ ...check, timeout_seconds: String(check.timeout_seconds) })),
    },
    send: edited => {
      const checks = edited.checks.map(check => ({
        ...check,
        timeout_seconds: Number(check.timeout_seconds),
      }))
      return call('setCheckCommands', { params: { repo_id }, body: { checks } })
    },
    stored: checkCommandsQuery(repo_id),
    done: 'Saved',
  })
  const { value: checks, on_change: setChecks, problem } = field('checks')
  return (
    <ApiForm {...props} label="Commands" forbidden={forbidden} changed={changed} submit="Save">
      {checks.length === 0 && <p className="text-faint">The service runs no commands.</p>}
      <ol className="space-y-3">
        {checks.map((check, index) => (
          <CheckRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a check whose name is being typed has no identity but its position
            key={index}
            check={check}
            on_change={change => setChecks(checks.with(index, { ...check, ...change }))}
            on_remove={
              forbidden === null ? () => setChecks(checks.filter((_check, at) => at !== index)) : null
            }
          />
        ))}
      </ol>
      {problem && (
        <p role="alert" className="text-bad text-xs">
          {problem}
        </p>
      )}
      {forbidden === null && (
        <Button
          onClick={() =>
            setChecks([...checks, { name: '', command: '', timeout_seconds: DEFAULT_TIMEOUT_SECONDS }])
          }
        >
          <Plus aria-hidden className="size-4" /> Add check
        </Button>
      )}
    </ApiForm>
  )
}

type RowProps = { check: Check; on_change: (change: Partial<Check>) => void; on_remove: (() => void) | null }

const CheckRow = ({ check, on_change, on_remove }: RowProps) => (
  <li className="grid items-end gap-2 rounded-lg border border-line bg-surface p-3 sm:grid-cols-[10rem_minmax(0,1fr)_8rem_auto]">
    <TextField
      label="Name"
      autoFocus={check.name === '' && check.command === ''}
      value={check.name}
      on_change={name => on_change({ name })}
    />
    <TextField label="Command" mono value={check.command} on_change={command => on_change({ command })} />
    <TextField
      label="Timeout (seconds)"
      type="number"
      value={check.timeout_seconds}
      on_change={timeout_seconds => on_change({ timeout_seconds })}
    />
    {on_remove && (
      <IconButton
        label={check.name === '' ? 'Remove check' : `Remove check ${check.name}`}
        className="mb-0.5"
        onClick={on_remove}
      >
        <Trash2 className="size-4" />
      </IconButton>
    )}
  </li>
)
