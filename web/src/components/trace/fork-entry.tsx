import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { GitFork } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { putRun } from '../../api/run-cache.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { useReadOnlyReason } from '../permission.ts'

type Props = { agent_run_id: number; seq: number; label?: string }

/** Forks a new run at an entry of this one, and opens it. */
export default function ForkEntry({ agent_run_id, seq, label = 'Fork from here' }: Props) {
  const [open, setOpen] = useState(false)
  const [prompt, setPrompt] = useState('')
  const forbidden = useReadOnlyReason()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const fork = useMutation({
    mutationFn: () =>
      call('forkAgentRun', { body: { agent_run_id, from_seq: seq, ...(prompt.trim() && { prompt }) } }),
    onSuccess: run => {
      putRun(queries, run)
      setOpen(false)
      return navigate({ to: '/agent/trace/$id', params: { id: String(run.id) } })
    },
  })
  return (
    <div>
      <Button variant="quiet" reason={forbidden} onClick={() => setOpen(true)}>
        <GitFork aria-hidden className="size-3.5" /> {label}
      </Button>
      {open && (
        <Dialog title={`Fork at entry ${seq}`} on_close={() => setOpen(false)}>
          <form
            className="space-y-3"
            onSubmit={event => {
              event.preventDefault()
              if (!fork.isPending) fork.mutate()
            }}
          >
            <p className="text-muted">
              Starts a new run with the conversation up to this entry and the files as they were after it.
            </p>
            <TextArea
              aria-label="What should it do?"
              placeholder="What should it do? Leave empty to continue."
              rows={4}
              value={prompt}
              onChange={event => setPrompt(event.target.value)}
            />
            {fork.error && (
              <p role="alert" className="text-bad">
                {visible(fork.error.message)}
              </p>
            )}
            <Button type="submit" variant="primary" busy={fork.isPending}>
              Fork
            </Button>
          </form>
        </Dialog>
      )}
    </div>
  )
}
