import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { AgentRun, RunPullRequest } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { pullRequestQuery, runQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useReadOnlyReason } from '../permission.ts'

type State = 'open' | 'closed' | 'draft' | 'ready_for_review'

/** The actions on a pull request. The run's stream reports the outcome; the run is also refetched, in case the stream is interrupted. */
function usePullRequestActions(run: AgentRun, pr: RunPullRequest) {
  const queries = useQueryClient()
  const params = { pr_id: pr.id }
  // A read of the pull request brings it up to date, so the run comes after it.
  const onSettled = async () => {
    await queries.invalidateQueries({ queryKey: ['pull_request', pr.id] })
    return queries.invalidateQueries({ queryKey: runQuery(run.id).queryKey })
  }
  return {
    merge: useMutation({
      mutationFn: (head_sha: string) => call('mergePullRequest', { params, body: { expected_head_sha: head_sha } }),
      onSettled,
    }),
    edit: useMutation({
      mutationFn: async (state: State) => {
        const response = await call('editPullRequest', { params, body: { state } })
        if (!response.success) throw new Error(response.error ?? 'The pull request could not be changed.')
      },
      onSettled,
    }),
  }
}

/** Merge, close and reopen. A merge needs a confirmation: it changes a branch that others use. */
export function PullRequestActions({ run, pr }: { run: AgentRun; pr: RunPullRequest }) {
  const forbidden = useReadOnlyReason()
  const { merge, edit } = usePullRequestActions(run, pr)
  // The head that was shown when the person chose to merge: a push between the two clicks is refused, not merged.
  const [confirming, setConfirming] = useState<string | null>(null)
  const open = pr.state === 'open'
  const mergeable = useQuery({ ...pullRequestQuery(pr.id, `${pr.state} ${pr.head_sha}`), enabled: open }).data?.mergeable
  if (pr.state === 'merged') return null
  const base = visible(pr.base_branch_name)
  const unmergeable = pr.state === 'draft' ? 'It is a draft' : open ? null : 'It is closed'
  const failure = merge.error ?? edit.error
  const toggle = (state: State, label: string) => (
    <Button variant="quiet" reason={forbidden} busy={edit.isPending} onClick={() => edit.mutate(state)}>
      {label}
    </Button>
  )
  return (
    <div className="mt-2 space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        {confirming !== null && open ? (
          <>
            <Button
              variant="primary"
              reason={forbidden}
              busy={merge.isPending}
              onClick={() => merge.mutate(confirming, { onSettled: () => setConfirming(null) })}
            >
              Merge into {base} now
            </Button>
            <Button variant="quiet" onClick={() => setConfirming(null)}>
              Cancel
            </Button>
          </>
        ) : (
          <Button reason={forbidden ?? unmergeable} onClick={() => setConfirming(pr.head_sha)}>
            Merge
          </Button>
        )}
        {pr.state === 'draft' && toggle('ready_for_review', 'Ready for review')}
        {open && toggle('draft', 'Convert to draft')}
        {pr.state === 'closed' ? toggle('open', 'Reopen') : toggle('closed', 'Close')}
        {mergeable === 'conflict' && <span className="text-warn text-xs">Conflicts with {base}, as of the last fetch</span>}
      </div>
      {failure && <Notice tone="bad">{visible(failure.message)}</Notice>}
    </div>
  )
}
