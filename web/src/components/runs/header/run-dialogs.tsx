import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { call } from '../../../api/client.ts'
import { dropRun } from '../../../api/run-cache.ts'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field, Input } from '../../../ui/field.tsx'
import { notify } from '../../../ui/toast.ts'
import { ConfirmDialog } from '../../form/confirm-dialog.tsx'
import { AnalyzeRun } from './analyze-run.tsx'
import type { Dialogs } from './use-run-commands.tsx'

type Props = { run: AgentRun; dialog: Dialogs | null; on_close: () => void }

/** The dialogs of the actions on a run. */
export default function RunDialogs({ run, dialog, on_close }: Props): ReactNode {
  return (
    <>
      <AnalyzeRun run={run} open={dialog === 'analyze'} on_close={on_close} />
      {dialog === 'compare' && <ChooseOtherRun run={run} on_close={on_close} />}
      {dialog === 'delete' && <DeleteRun run={run} on_close={on_close} />}
    </>
  )
}

type DialogProps = { run: AgentRun; on_close: () => void }

function DeleteRun({ run, on_close }: DialogProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return (
    <ConfirmDialog
      title={`Delete run ${run.id}`}
      action="Delete run"
      send={() => call('deleteAgentRun', { params: { agent_run_id: run.id } })}
      on_done={async () => {
        await navigate({ to: '/' })
        dropRun(queries, run.id)
        notify(`Run ${run.id} deleted`)
      }}
      on_close={on_close}
    >
      <p>
        Deletes <strong className="text-ink">{visible(run.title)}</strong> with its trace and its files,
        permanently. Its branch and its pull request stay.
      </p>
    </ConfirmDialog>
  )
}

/** Leads to the comparison with a run of a number: the parent run, or another attempt. */
function ChooseOtherRun({ run, on_close }: DialogProps) {
  const navigate = useNavigate()
  const [other, setOther] = useState(run.parent_run_id === null ? '' : String(run.parent_run_id))
  const reason = /^\d{1,15}$/.test(other.trim()) ? null : 'Enter the number of a run'
  return (
    <Dialog title={`Compare run ${run.id}`} on_close={on_close}>
      <form
        className="space-y-4"
        onSubmit={event => {
          event.preventDefault()
          if (reason === null)
            void navigate({ to: '/compare', search: { a: Number(other.trim()), b: run.id } })
        }}
      >
        <Field label="Number of the other run">
          {props => (
            <Input
              {...props}
              value={other}
              inputMode="numeric"
              autoFocus
              onChange={event => setOther(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end">
          <Button type="submit" variant="primary" reason={reason}>
            Compare
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
