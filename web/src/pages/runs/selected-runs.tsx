import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Archive, ArchiveRestore, GitCompareArrows, Square, Tag, Trash2, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { dropRun, putRun } from '../../api/run-cache.ts'
import { ApiForm } from '../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { useForm } from '../../components/form/use-form.ts'
import { TagField } from '../../components/runs/fields/tag-field.tsx'
import { plural } from '../../text/format.ts'
import { Button, buttonStyle } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { notify } from '../../ui/toast.ts'
import { forEachRun } from './for-each-run.ts'

type Props = { runs: AgentRun[]; loaded: number; on_all: () => void; on_none: () => void }
/** `change` returns the run as it is now; null when it was deleted. */
type Action = { name: string; runs: AgentRun[]; change: (run: AgentRun) => Promise<AgentRun | null> }

/** What can be done with all selected runs at once. */
export default function SelectedRuns({ runs, loaded, on_all, on_none }: Props) {
  const { request, progress } = useActionOnEach()
  const [dialog, setDialog] = useState<'none' | 'stop' | 'tag' | 'delete'>('none')
  const close = () => setDialog('none')
  const active = runs.filter(run => !run.terminal)
  const stop: Action = {
    name: 'stopped',
    runs: active,
    change: ({ id }) => call('stopAgentRun', { body: { agent_run_id: id } }),
  }
  const ended = runs.filter(run => run.terminal)
  return (
    <section
      aria-label="Selected runs"
      className="sticky bottom-3 z-20 mx-auto my-3 flex w-fit max-w-full flex-wrap items-center gap-1.5 rounded-lg border border-strong bg-surface px-3 py-2 shadow-lg"
    >
      <span className="tabular mr-1 font-medium">{progress ?? `${runs.length} selected`}</span>
      {runs.length < loaded && (
        <Button variant="quiet" onClick={on_all}>
          Select all {loaded}
        </Button>
      )}
      <Button
        reason={active.length === 0 ? 'All of them have ended' : null}
        busy={request.isPending}
        onClick={() => setDialog('stop')}
      >
        <Square aria-hidden className="size-3 fill-current" /> Stop
      </Button>
      <ArchiveButtons runs={runs} busy={request.isPending} run={action => request.mutate(action)} />
      <Button busy={request.isPending} onClick={() => setDialog('tag')}>
        <Tag aria-hidden className="size-3.5" /> Add tags
      </Button>
      {runs.length === 2 && (
        <Link
          to="/compare"
          search={{ a: Math.min(...runs.map(({ id }) => id)), b: Math.max(...runs.map(({ id }) => id)) }}
          className={buttonStyle()}
        >
          <GitCompareArrows aria-hidden className="size-3.5" /> Compare
        </Link>
      )}
      <Button
        variant="danger"
        reason={ended.length === 0 ? 'None of them has ended: stop them first' : null}
        busy={request.isPending}
        onClick={() => setDialog('delete')}
      >
        <Trash2 aria-hidden className="size-3.5" /> Delete
      </Button>
      <IconButton label="Clear the selection" onClick={on_none}>
        <X className="size-4" />
      </IconButton>
      {dialog === 'stop' && (
        <ConfirmDialog
          title={`Stop ${plural(active.length, 'run')}?`}
          action={`Stop ${plural(active.length, 'run')}`}
          send={() => request.mutateAsync(stop)}
          on_close={close}
        >
          Their work up to now stays in their traces, and a follow-up continues them.{' '}
          {active.length < runs.length && 'The others have ended.'}
        </ConfirmDialog>
      )}
      {dialog === 'delete' && (
        <DeleteDialog runs={ended} others={runs.length - ended.length} request={request} on_close={close} />
      )}
      {dialog === 'tag' && (
        <Dialog title={`Add tags to ${plural(runs.length, 'run')}`} on_close={close}>
          <AddTags runs={runs} request={request} on_done={close} />
        </Dialog>
      )}
    </section>
  )
}

/** Archives those that are not archived, and restores those that are. */
function ArchiveButtons({
  runs,
  busy,
  run,
}: {
  runs: AgentRun[]
  busy: boolean
  run: (action: Action) => void
}): ReactNode {
  const archived = runs.filter(({ archived }) => archived)
  const current = runs.filter(({ archived }) => !archived)
  return (
    <>
      {current.length > 0 && (
        <Button
          busy={busy}
          onClick={() =>
            run({
              name: 'archived',
              runs: current,
              change: ({ id }) => call('archiveAgentRun', { body: { agent_run_id: id } }),
            })
          }
        >
          <Archive aria-hidden className="size-3.5" /> Archive
        </Button>
      )}
      {archived.length > 0 && (
        <Button
          busy={busy}
          onClick={() =>
            run({
              name: 'unarchived',
              runs: archived,
              change: ({ id }) => call('unarchiveAgentRun', { body: { agent_run_id: id } }),
            })
          }
        >
          <ArchiveRestore aria-hidden className="size-3.5" /> Unarchive
        </Button>
      )}
    </>
  )
}

type DeleteProps = { runs: AgentRun[]; others: number; request: Request; on_close: () => void }

function DeleteDialog({ runs, others, request, on_close }: DeleteProps) {
  const change = async ({ id }: AgentRun) => {
    await call('deleteAgentRun', { params: { agent_run_id: id } })
    return null
  }
  return (
    <ConfirmDialog
      title={`Delete ${plural(runs.length, 'run')}?`}
      action={`Delete ${plural(runs.length, 'run')}`}
      send={() => request.mutateAsync({ name: 'deleted', runs, change })}
      on_close={on_close}
    >
      This permanently deletes their traces, messages, changes and outputs. Their pull requests and what they
      pushed stay. {others > 0 && 'Selected runs that have not ended are not deleted.'}
    </ConfirmDialog>
  )
}

type Request = ReturnType<typeof useActionOnEach>['request']

function AddTags({ runs, request, on_done }: { runs: AgentRun[]; request: Request; on_done: () => void }) {
  const { field, props } = useForm({
    saved: { tags: [] as string[] },
    send: ({ tags }) => {
      const change = (run: AgentRun) =>
        call('updateAgentRun', {
          params: { agent_run_id: run.id },
          body: { tags: [...new Set([...run.tags, ...tags])] },
        })
      return request.mutateAsync({ name: 'tagged', runs, change })
    },
    on_done,
  })
  const { value: tags, ...of_tags } = field('tags')
  return (
    <ApiForm
      {...props}
      label="Add tags"
      missing={tags.length === 0 ? 'Enter a tag first' : null}
      submit="Add tags"
    >
      <TagField {...of_tags} tags={tags} />
    </ApiForm>
  )
}

/**
 * Calls an action for each run, and updates each in the list. Fails, after all were tried, when the service
 * refused some.
 */
function useActionOnEach() {
  const queries = useQueryClient()
  const [progress, setProgress] = useState<string | null>(null)
  const request = useMutation({
    mutationFn: async ({ name, runs, change }: Action) => {
      const failures = await forEachRun(
        runs,
        async run => {
          const changed = await change(run)
          if (changed) putRun(queries, changed)
          else dropRun(queries, run.id)
        },
        done => setProgress(`${done} of ${runs.length}`),
      )
      const done = runs.length - failures.length
      if (done > 0) notify(`${plural(done, 'run')} ${name}`)
      const [first] = failures
      if (first)
        throw new Error(
          `${plural(failures.length, 'run')} could not be ${name}. #${first.run.id}: ${first.message}`,
        )
    },
    onError: error => notify(error.message, 'bad'),
    onSettled: () => setProgress(null),
  })
  return { request, progress }
}
