import { useQuery } from '@tanstack/react-query'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import type { RunStartup } from '../../../../src/contract/runs/startups.ts'
import { startupQuery, startupsQuery } from '../../api/queries.ts'
import { duration } from '../../text/format.ts'
import { EnvironmentList } from './environment-list.tsx'

const parts = [
  ['queue_ms', 'Queue'],
  ['claim_ms', 'Claim'],
  ['mirror_ms', 'Mirror'],
  ['setup_ms', 'Setup'],
  ['sandbox_ms', 'Sandbox'],
  ['clone_ms', 'Clone'],
] as const
const milestones = [
  ['first_model_byte_ms', 'First model byte'],
  ['first_action_ms', 'First action'],
] as const

/** The startup times of a run beside the medians of its repository, and the environment that it used. */
export function StartupSection({ run }: { run: AgentRun }) {
  const { data } = useQuery(startupQuery(run.id, `${run.status} ${run.phase}`))
  const { data: median } = useQuery({ ...startupsQuery(run.repo_id ?? 0), enabled: run.repo_id !== null })
  const begun = data !== undefined && data.queue_ms !== null
  if (!begun) return run.repo_id === null ? null : <EnvironmentList repo_id={run.repo_id} used={null} />
  const longest = Math.max(1, ...parts.map(([key]) => data[key] ?? 0))
  return (
    <section aria-label="Start" className="border-line border-t p-4">
      <h3 className="text-muted text-xs">Start</h3>
      <table className="mt-1 w-full text-xs">
        <thead className="sr-only">
          <tr>
            <th>Part</th>
            <th>Share</th>
            <th>Time</th>
            <th>Median of this repository</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(([key, name]) => (
            <PartRow key={key} name={name} ms={data[key]} longest={longest} median={median?.p50[key] ?? null} />
          ))}
          {milestones.map(([key, name]) => (
            <PartRow key={key} name={name} ms={data[key]} longest={null} median={median?.p50[key] ?? null} />
          ))}
        </tbody>
      </table>
      {data.environment && <p className="mt-2 text-muted text-xs">{usedEnvironment(data.environment)}</p>}
      {run.repo_id !== null && <EnvironmentList repo_id={run.repo_id} used={data.environment?.id ?? null} />}
    </section>
  )
}

function usedEnvironment({ id, made, age_seconds }: NonNullable<RunStartup['environment']>): string {
  if (id === null) return 'Its setup was not saved for later runs, because a command failed.'
  return made ? `Created environment ${id}.` : `Used environment ${id}, created ${duration(age_seconds * 1000)} earlier.`
}

/** `longest` null: not a part, but a time since the run was created. */
function PartRow({ name, ms, longest, median }: { name: string; ms: number | null; longest: number | null; median: number | null }) {
  return (
    <tr>
      <th scope="row" className="whitespace-nowrap py-0.5 pr-3 text-left font-normal text-faint">
        {name}
      </th>
      <td className="w-full">
        {longest !== null && ms !== null && (
          <div aria-hidden className="h-1.5 rounded-full bg-accent" style={{ width: `${Math.max(1, (100 * ms) / longest)}%` }} />
        )}
      </td>
      <td className="tabular whitespace-nowrap pl-3 text-right text-muted">{ms === null ? '–' : duration(ms)}</td>
      <td className="tabular whitespace-nowrap pl-3 text-right text-faint" title="Median of this repository">
        {median === null ? '' : `⌀ ${duration(median)}`}
      </td>
    </tr>
  )
}
