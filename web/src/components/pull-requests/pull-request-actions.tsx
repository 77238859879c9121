import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { RunPullRequest } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { pullRequestQuery, runQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useReadOnlyReason } from '../permission.ts'

type State = 'open' | 'closed' | 'draft' | 'ready_for_review'

type Method = 'merge' | 'squash'

/**
 * The actions on a pull request. The run's stream reports the outcome; the run is also refetched, in case the
 * stream is interrupted.
 */
function usePullRequestActions(run_id: number | null, pr: RunPullRequest) {
  const queries = useQueryClient()
  const params = { pr_id: pr.id }
  // A read of the pull request brings it up to date, so the run comes after it.
  const onSettled = async () => {
    await queries.invalidateQueries({ queryKey: ['pull_request', pr.id] })
    if (run_id !== null) await queries.invalidateQueries({ queryKey: runQuery(run_id).queryKey })
  }
  return {
    merge: useMutation({
      mutationFn: ({ head_sha, method }: { head_sha: string; method: Method }) =>
        call('mergePullRequest', { params, body: { expected_head_sha: head_sha, method } }),
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

type Props = { run_id: number | null; pr: RunPullRequest; checks_failing: boolean }

/** Merge, close, reopen and draft. A merge needs a confirmation: it changes a branch that others use. */
export function PullRequestActions({ run_id, pr, checks_failing }: Props) {
  const forbidden = useReadOnlyReason()
  const { merge, edit } = usePullRequestActions(run_id, pr)
  const [method, setMethod] = useState<Method>('merge')
  // The head that was shown when the person chose to merge: a push between the two clicks is refused, not
  // merged.
  const [confirming, setConfirming] = useState<string | null>(null)
  const open = pr.state === 'open'
  const mergeable = useQuery({ ...pullRequestQuery(pr.id, `${pr.state} ${pr.head_sha}`), enabled: open }).data
    ?.mergeable
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
              onClick={() =>
                merge.mutate({ head_sha: confirming, method }, { onSettled: () => setConfirming(null) })
              }
            >
              {checks_failing ? `Merge into ${base} anyway` : `Merge into ${base}`}
            </Button>
            <Select
              aria-label="Method"
              className="h-7! w-auto!"
              value={method}
              onChange={event => setMethod(event.target.value === 'squash' ? 'squash' : 'merge')}
            >
              <option value="merge">Merge commit</option>
              <option value="squash">Squash</option>
            </Select>
            <Button variant="quiet" onClick={() => setConfirming(null)}>
              Cancel
            </Button>
          </>
        ) : (
          <Button
            variant={checks_failing ? 'danger' : 'plain'}
            reason={forbidden ?? unmergeable}
            onClick={() => setConfirming(pr.head_sha)}
          >
            {checks_failing ? 'Merge anyway' : 'Merge'}
          </Button>
        )}
        {pr.state === 'draft' && toggle('ready_for_review', 'Ready for review')}
        {open && toggle('draft', 'Convert to draft')}
        {pr.state === 'closed' ? toggle('open', 'Reopen') : toggle('closed', 'Close')}
        {mergeable === 'conflict' && (
          <span className="text-warn text-xs">Conflicts with {base}, as of the last fetch</span>
        )}
      </div>
      {failure && <Notice tone="bad">{visible(failure.message)}</Notice>}
    </div>
  )
}
