import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RunPullRequest } from '../../../../src/contract/runs/runs.ts'
import { commitsQuery } from '../../api/queries.ts'
import { cloneCommand } from '../../text/clone-command.ts'
import { moment, plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { CopyButton } from '../../ui/copy-button.tsx'

type Props = { organization_id: number; repo_id: number; pr: RunPullRequest }

/** How to get the branch, and the commits. */
export function PullRequestBranch({ organization_id, repo_id, pr }: Props) {
  const command = cloneCommand(location.origin, { organization_id, repo_id }, pr.head_branch_name ?? '')
  return (
    <div className="space-y-2">
      {command && (
        <div className="flex items-center gap-1">
          <code
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
            tabIndex={0}
            className="min-w-0 flex-1 overflow-x-auto whitespace-nowrap rounded bg-sunken px-2 py-1 font-mono text-2xs"
            data-testid="clone"
          >
            {command}
          </code>
          <CopyButton label="Copy the command" text={() => command} />
        </div>
      )}
      <Commits pr={pr} />
    </div>
  )
}

function Commits({ pr }: { pr: RunPullRequest }) {
  const [open, setOpen] = useState(false)
  const commits = useQuery({
    ...commitsQuery(pr.id, `${pr.head_sha} ${pr.state} ${pr.base_branch_name}`),
    enabled: open,
  })
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer text-muted text-xs">
        Commits{commits.data && ` (${commits.data.total})`}
      </summary>
      {commits.isError && (
        <p role="alert" className="mt-1 text-bad text-xs">
          {visible(commits.error.message)}
        </p>
      )}
      {open && commits.isPending && <p className="mt-1 text-faint text-xs">Loading the commits …</p>}
      {commits.data && (
        <ol aria-label="Commits" className="mt-1 space-y-1">
          {commits.data.items.map(({ sha, message, author_name, committed_at }) => (
            <li key={sha} className="flex flex-wrap items-baseline gap-x-2 text-xs">
              <code className="font-mono text-2xs text-faint" data-hint={sha}>
                {sha.slice(0, 8)}
              </code>
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                {visible(message.split('\n')[0] ?? '')}
              </span>
              <span className="text-2xs text-faint">
                {visible(author_name)}
                {committed_at && ` · ${moment(committed_at)}`}
              </span>
            </li>
          ))}
          {commits.data.total > commits.data.items.length && (
            <li className="text-faint text-xs">
              and {plural(commits.data.total - commits.data.items.length, 'newer commit')}
            </li>
          )}
        </ol>
      )}
    </details>
  )
}
