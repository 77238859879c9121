import type { Endpoint } from '../../src/contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../src/contract/endpoints.ts'

export type Call = { name: EndpointName; method: Endpoint['method']; path: string; body: Record<string, unknown> | undefined }

/** Every operation that wants a bearer token, as a request that would succeed for who may. Made from the contract: a new one is in it by itself. */
export function tokenCalls(ids: { org_id: number; run_id: number; repo_id: number }): Call[] {
  const bodies: Partial<Record<EndpointName, Record<string, unknown>>> = {
    createAgentRun: { prompt: 'x', repo_id: ids.repo_id },
    updateAgentRun: { title: 'changed' },
    resumeAgentRun: { agent_run_id: ids.run_id, prompt: 'x' },
    stopAgentRun: { agent_run_id: ids.run_id },
    archiveAgentRun: { agent_run_id: ids.run_id },
    unarchiveAgentRun: { agent_run_id: ids.run_id },
  }
  const rows = Object.entries(endpoints) as [EndpointName, Endpoint][]
  return rows
    .filter(([, endpoint]) => endpoint.access === 'token')
    .map(([name, { method, path, body }]) => {
      if (body !== null && !bodies[name]) throw new Error(`say here what a good request of ${name} is`)
      return {
        name,
        method,
        path: path.replace('{org_id}', `${ids.org_id}`).replace('{agent_run_id}', `${ids.run_id}`),
        body: bodies[name],
      }
    })
}
