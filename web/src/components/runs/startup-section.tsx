import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import type { RunStartup } from '../../../../src/contract/runs/startups.ts'
import { startupQuery, startupsQuery } from '../../api/queries.ts'
import { duration } from '../../text/format.ts'
import { EnvironmentList } from './environment-list.tsx'

const parts = [
  ['queue', 'Queue'],
  ['claim', 'Claim'],
  ['mirror', 'Mirror'],
  ['setup', 'Setup'],
  ['sandbox', 'Sandbox'],
  ['clone', 'Clone'],
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
  const ends = [
    ...data.spans.map(span => span.start_ms + span.duration_ms),
    ...milestones.map(([key]) => data[key] ?? 0),
  ]
  const whole_ms = Math.max(1, ...ends)
  return (
    <section aria-label="Start" className="border-line border-t p-4">
      <h3 className="text-muted text-xs">Start</h3>
      <table className="mt-1 w-full text-xs">
        <thead className="sr-only">
          <tr>
            <th>Part</th>
            <th>Start and end</th>
            <th>Time</th>
            <th>Median of this repository</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(([key, name]) => (
            <PartRow key={key} name={name} ms={data[`${key}_ms`]} median={median?.p50[`${key}_ms`] ?? null}>
              {data.spans.map(
                (span, index) =>
                  span.part === key && (
                    <Bar
                      // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a start never change their order
                      key={index}
                      start={span.start_ms / whole_ms}
                      share={span.duration_ms / whole_ms}
                      hint={`${name}: from ${duration(span.start_ms)} to ${duration(span.start_ms + span.duration_ms)}`}
                    />
                  ),
              )}
            </PartRow>
          ))}
          {milestones.map(([key, name]) => (
            <PartRow key={key} name={name} ms={data[key]} median={median?.p50[key] ?? null}>
              {data[key] !== null && (
                <Bar start={data[key] / whole_ms} share={0} hint={`${name}: after ${duration(data[key])}`} />
              )}
            </PartRow>
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
  return made
    ? `Created environment ${id}.`
    : `Used environment ${id}, created ${duration(age_seconds * 1000)} earlier.`
}

type RowProps = { name: string; ms: number | null; median: number | null; children: ReactNode }

/** One part of the start. The children are its bars, on a scale that all parts share. */
function PartRow({ name, ms, median, children }: RowProps) {
  return (
    <tr>
      <th scope="row" className="whitespace-nowrap py-0.5 pr-3 text-left font-normal text-faint">
        {name}
      </th>
      <td className="w-full">
        <div className="relative h-2 rounded-xs bg-hover">{children}</div>
      </td>
      <td className="tabular whitespace-nowrap pl-3 text-right text-muted">
        {ms === null ? '–' : duration(ms)}
      </td>
      <td className="tabular whitespace-nowrap pl-3 text-right text-faint" title="Median of this repository">
        {median === null ? '' : `⌀ ${duration(median)}`}
      </td>
    </tr>
  )
}

/** From `start`, as long as `share` of the whole; without a length it is a moment. */
const Bar = ({ start, share, hint }: { start: number; share: number; hint: string }) => (
  <div
    aria-hidden
    data-hint={hint}
    className={`absolute inset-y-0 min-w-0.5 rounded-xs ${share === 0 ? 'bg-ink' : 'bg-accent'}`}
    style={{ left: `${Math.min(99.5, 100 * start)}%`, width: `${100 * Math.min(share, 1 - start)}%` }}
  />
)
