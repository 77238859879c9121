import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { pullRequestPageQuery, runQuery } from '../../api/queries.ts'
import { putRun } from '../../api/run-cache.ts'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { useRequest } from '../../components/form/use-request.ts'
import { useReadOnlyReason } from '../../components/permission.ts'
import { useDialog } from '../../components/resource-page.tsx'
import { StatusPill } from '../../components/runs/status-pill.tsx'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'

const operations = { ban: 'banAgentRun', unban: 'unbanAgentRun', remove: 'removeAgentRunFromPr' } as const
type Operation = keyof typeof operations

type Props = { agent_run_id: number | null; pr_id: number }

/** The run that opened a pull request, and what can be done with all runs of it. */
export function RunsOfPullRequest({ agent_run_id, pr_id }: Props) {
  if (agent_run_id === null)
    return <p className="text-faint text-xs">The run was deleted, or removed from this pull request.</p>
  return <OpenedBy id={agent_run_id} pr_id={pr_id} />
}

function OpenedBy({ id, pr_id }: { id: number; pr_id: number }) {
  const queries = useQueryClient()
  const forbidden = useReadOnlyReason()
  // The stream of the organization is not open on this page.
  const run = useQuery({ ...runQuery(id), refetchInterval: 10_000 }).data
  const { dialog, show } = useDialog()
  const change = (operation: Operation) => call(operations[operation], { body: { agent_run_id: id } })
  const effects = (done: string) => ({
    refresh: [pullRequestPageQuery(pr_id)],
    done,
    on_done: (changed: AgentRun) => putRun(queries, changed),
  })
  const unban = useRequest(() => change('unban'), effects('The ban is lifted'))
  if (!run) return null
  const ban = (close: () => void) => (
    <ConfirmDialog
      title="Ban runs"
      action="Ban runs"
      send={() => change('ban')}
      {...effects('The runs are banned')}
      on_close={close}
    >
      This stops the run and every other run of this pull request. No check starts them again, and follow-ups
      are refused until you lift the ban.
    </ConfirmDialog>
  )
  const remove = (close: () => void) => (
    <ConfirmDialog
      title="Remove runs"
      action="Remove runs"
      send={() => change('remove')}
      {...effects('The runs are removed')}
      on_close={close}
    >
      This stops the run and every other run of this pull request, and detaches them from it. The pull request
      stays as it is, its checks no longer reach the runs, and a follow-up writes to a new branch. The runs
      cannot be attached again.
    </ConfirmDialog>
  )
  return (
    <div className="text-xs">
      <div className="flex min-w-0 items-center gap-2">
        <Link
          to="/agent/trace/$id"
          params={{ id: String(id) }}
          className="min-w-0 truncate text-accent hover:underline"
        >
          <bdi>#{id}</bdi> <bdi>{visible(run.title)}</bdi>
        </Link>
        <StatusPill run={run} detailed />
        {run.banned && <Badge tone="bad">banned</Badge>}
      </div>
      <div className="mt-2 flex flex-wrap gap-2">
        {run.banned ? (
          <Button reason={forbidden} busy={unban.isPending} onClick={() => unban.mutate()}>
            Lift the ban
          </Button>
        ) : (
          <Button variant="danger" reason={forbidden} onClick={() => show(ban)}>
            Ban runs
          </Button>
        )}
        <Button variant="danger" reason={forbidden} onClick={() => show(remove)}>
          Remove runs
        </Button>
      </div>
      {unban.error && <Notice tone="bad">{visible(unban.error.message)}</Notice>}
      {dialog}
    </div>
  )
}
