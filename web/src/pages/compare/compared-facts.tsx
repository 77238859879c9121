import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { sourceNames } from '../../api/names.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { ModelBadge } from '../../components/runs/model-badge.tsx'
import { tokens } from '../../components/runs/run-numbers.ts'
import { StatusPill, statusDetail } from '../../components/runs/status-pill.tsx'
import { duration, moment, money } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'

/** `repository`: its name with its owner. */
type Fact = {
  name: string
  value: (run: AgentRun, repository: string | null) => string | null
  show?: (run: AgentRun) => ReactNode
}

const number = (value: number) => value.toLocaleString('en')

const outcome: Fact[] = [
  {
    name: 'Status',
    value: run => `${run.status} ${statusDetail(run)}`,
    show: run => <StatusPill run={run} detailed />,
  },
  { name: 'Cost', value: ({ usage }) => (usage.cost_usd === null ? null : money(usage.cost_usd)) },
  { name: 'Active time', value: ({ usage }) => duration(usage.active_seconds * 1000) },
  { name: 'Tokens', value: run => number(tokens(run)) },
  {
    name: 'Cached',
    value: ({ usage }) => (usage.cached_share === null ? null : `${Math.round(usage.cached_share * 100)} %`),
  },
  { name: 'Turns', value: ({ turn }) => String(turn) },
  { name: 'Entries', value: ({ total_logs }) => number(total_logs) },
  {
    name: 'Pull request',
    value: ({ github_pull_requests: all }) =>
      all.length === 0 ? null : `#${all.at(-1)?.number} ${all.at(-1)?.state}`,
  },
]

const configuration: Fact[] = [
  { name: 'Model', value: ({ model }) => model, show: ({ model }) => <ModelBadge model={model} /> },
  { name: 'Reasoning effort', value: ({ reasoning_effort }) => reasoning_effort },
  { name: 'Review', value: ({ review }) => review },
  { name: 'Repository', value: (_run, repository) => repository },
  {
    name: 'Base',
    value: ({ base_ref, base_sha }) => [base_ref, base_sha?.slice(0, 12)].filter(Boolean).join(' ') || null,
  },
  { name: 'Tools off', value: ({ tools_off }) => tools_off.join(', ') || null },
  { name: 'Max cost', value: ({ budget }) => budget.max_cost_usd && money(budget.max_cost_usd) },
  { name: 'Max steps', value: ({ budget }) => (budget.max_steps === null ? null : number(budget.max_steps)) },
  { name: 'Source', value: ({ source_type }) => sourceNames[source_type] },
  { name: 'Created', value: ({ created_at }) => moment(created_at) },
  { name: 'Prompt', value: ({ prompt }) => prompt, show: ({ prompt }) => <Prompt text={prompt} /> },
]

const Prompt = ({ text }: { text: string }) => (
  <p className="line-clamp-6 whitespace-pre-wrap">{visible(text)}</p>
)

/** Outcome and configuration of both runs. What differs is marked. */
export function ComparedFacts({ runs }: { runs: [AgentRun, AgentRun] }) {
  return (
    <section aria-label="Outcome and configuration" className="rounded-lg border border-line bg-surface">
      <table className="w-full table-fixed border-collapse text-sm">
        <thead>
          <tr className="border-line border-b">
            <td className="w-32 max-sm:w-22" />
            {runs.map((run, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a run may be compared with itself
              <th key={index} scope="col" className="px-3 py-2 text-left font-medium max-sm:px-2">
                <Link
                  to="/agent/trace/$id"
                  params={{ id: String(run.id) }}
                  className="line-clamp-2 text-accent [overflow-wrap:anywhere] hover:underline"
                >
                  <bdi>#{run.id}</bdi> <bdi>{visible(run.title)}</bdi>
                </Link>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...outcome, ...configuration].map(fact => (
            <FactRow key={fact.name} fact={fact} runs={runs} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function FactRow({ fact: { name, value, show }, runs }: { fact: Fact; runs: [AgentRun, AgentRun] }) {
  const repositories = useQuery(repositoriesQuery).data
  const fullName = (run: AgentRun) =>
    repositories?.find(({ id }) => id === run.repo_id)?.full_name ?? run.repo_name
  const values = runs.map(run => value(run, fullName(run)))
  const differs = values[0] !== values[1]
  if (values.every(one => one === null)) return null
  return (
    <tr className={`border-line/60 border-b align-top last:border-b-0 ${differs ? 'bg-warn/8' : ''}`}>
      <th scope="row" className="px-3 py-1.5 text-left font-normal text-faint text-xs max-sm:pr-0">
        {name}
        {differs && <span className="sr-only"> (differs)</span>}
      </th>
      {runs.map((run, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a run may be compared with itself
        <td key={index} className="tabular px-3 py-1.5 [overflow-wrap:anywhere] max-sm:px-2">
          {values[index] === null ? (
            <span className="text-faint">–</span>
          ) : show ? (
            show(run)
          ) : (
            visible(values[index] ?? '')
          )}
        </td>
      ))}
    </tr>
  )
}
