import type { ChildRun } from '../agent/related-runs.ts'
import type { AgentRun } from '../contract/runs/runs.ts'
import type { Services } from '../service/context.ts'
import { listChildrenOf, startChildRun } from '../service/runs/child-runs.ts'
import type { ChildRuns } from '../worker/turns/child-runs.ts'

/** Returns the verbs of the API that start and list child runs, with results in the terms of agents. */
export const childRuns = (services: Services): ChildRuns => ({
  start: async (parent, call_id, input) => childRunOf(await startChildRun(services, parent, call_id, input)),
  list: async parent => (await listChildrenOf(services, parent)).map(childRunOf),
})

const childRunOf = (run: AgentRun): ChildRun => ({
  agent_run_id: run.id,
  title: run.title,
  status: run.status,
  status_reason: run.status_reason,
  waiting_on: run.waiting_on,
  repository_id: run.repo_id,
  branch: run.branch,
  result: run.result,
  error: run.error?.message ?? null,
  pull_requests: run.github_pull_requests.map(({ number, title, state, url }) => ({
    number,
    title,
    state,
    url,
  })),
  cost_usd: run.usage.cost_usd,
  max_cost_usd: run.budget.max_cost_usd,
  total_logs: run.total_logs,
  web_url: run.web_url,
})
