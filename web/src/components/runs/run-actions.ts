import { useQueryClient } from '@tanstack/react-query'
import type { Body } from '../../../../src/contract/calls.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { putRun } from '../../api/run-cache.ts'
import { useRequest } from '../form/use-request.ts'

/** The actions on a run. Every response is the run, and updates it everywhere on the page. */
export function useRunActions({ id }: AgentRun) {
  const queries = useQueryClient()
  const effects = { on_done: (run: AgentRun) => putRun(queries, run) }
  const body = { agent_run_id: id }
  return {
    stop: useRequest(() => call('stopAgentRun', { body }), effects),
    pause: useRequest(() => call('pauseAgentRun', { body }), effects),
    archive: useRequest(
      (on: boolean) => call(on ? 'archiveAgentRun' : 'unarchiveAgentRun', { body }),
      effects,
    ),
    update: useRequest(
      (changes: Body<'updateAgentRun'>) => call('updateAgentRun', { params: body, body: changes }),
      effects,
    ),
    resume: useRequest(
      (message: Omit<Body<'resumeAgentRun'>, 'agent_run_id'>) =>
        call('resumeAgentRun', { body: { ...body, ...message } }),
      effects,
    ),
  }
}
