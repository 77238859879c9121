import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { diffQuery } from '../../api/queries.ts'
import { plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { toolLine } from '../../trace/entry-summary.ts'
import { hasTerminal, type LiveTool } from '../../trace/live-work.ts'
import { AnsiText } from '../plain-text.tsx'

const FILES = 8
const LINES = 20

/**
 * What an active run does: the files that it has changed so far, and the end of the output of its command.
 */
export default function LiveSection({ run, tools }: { run: AgentRun; tools: LiveTool[] }) {
  const command = tools.findLast(({ output }) => output !== '') ?? tools.findLast(hasTerminal)
  return (
    <>
      {run.repo_id !== null && run.started_at !== null && <ChangesSoFar run={run} />}
      {command && (
        <section aria-label="Terminal">
          <h2 className="mb-1.5 text-faint text-xs">Terminal</h2>
          <pre className="overflow-hidden whitespace-pre-wrap rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs [overflow-wrap:anywhere]">
            <span className="text-faint">
              $ {visible(toolLine(command.tool_name, command.tool_input)).slice(0, 500)}
            </span>
            {'\n'}
            {command.output === '' && <span className="text-faint">No output yet</span>}
            <AnsiText text={command.output.trimEnd().split('\n').slice(-LINES).join('\n')} />
          </pre>
        </section>
      )}
    </>
  )
}

function ChangesSoFar({ run }: { run: AgentRun }) {
  const { data } = useQuery({
    ...diffQuery(run.id, `${run.turn} live`, { from_seq: 0 }),
    refetchInterval: 5_000,
    retry: false,
  })
  if (data === undefined || data.files_changed === 0) return null
  return (
    <section aria-label="Changes so far">
      <h2 className="mb-1.5 text-faint text-xs">Changes so far</h2>
      <ul className="font-mono text-xs">
        {data.files.slice(0, FILES).map(file => (
          <li key={file.path} className="flex gap-3">
            <bdi className="min-w-0 flex-1 truncate">{visible(file.path)}</bdi>
            {!file.binary && (
              <span className="tabular shrink-0">
                <span className="text-ok">+{file.additions ?? 0}</span>{' '}
                <span className="text-bad">−{file.deletions ?? 0}</span>
              </span>
            )}
          </li>
        ))}
      </ul>
      <Link
        to="."
        search={previous => ({ ...previous, view: 'changes' as const })}
        className="inline-flex min-h-6 items-center text-accent text-xs hover:underline"
      >
        {data.files_changed > FILES ? `All ${plural(data.files_changed, 'file')}` : 'Show the changes'}
      </Link>
    </section>
  )
}
