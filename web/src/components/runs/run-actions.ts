import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Body } from '../../../../src/contract/calls.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { putRun } from '../../api/run-cache.ts'

/** The actions on a run. Every response is the run, and updates it everywhere on the page. */
export function useRunActions({ id }: AgentRun) {
  const queries = useQueryClient()
  const onSuccess = (run: AgentRun) => putRun(queries, run)
  const body = { agent_run_id: id }
  return {
    stop: useMutation({ mutationFn: () => call('stopAgentRun', { body }), onSuccess }),
    pause: useMutation({ mutationFn: () => call('pauseAgentRun', { body }), onSuccess }),
    archive: useMutation({
      mutationFn: (on: boolean) => call(on ? 'archiveAgentRun' : 'unarchiveAgentRun', { body }),
      onSuccess,
    }),
    update: useMutation({
      mutationFn: (changes: Body<'updateAgentRun'>) =>
        call('updateAgentRun', { params: body, body: changes }),
      onSuccess,
    }),
    resume: useMutation({
      mutationFn: (message: Omit<Body<'resumeAgentRun'>, 'agent_run_id'>) =>
        call('resumeAgentRun', { body: { ...body, ...message } }),
      onSuccess,
    }),
  }
}
