import type { FakeReply, FakeScript, SeenRequest } from '../../model/fake-server.ts'
import { allLogs } from '../await-run.ts'
import { type CodingApp, calls } from '../coding-app.ts'

export const on = { AGENTRUN_MODEL_EVALUATIONS: '1' }

function toolsOf({ body }: SeenRequest): string[] {
  // Chat completions and responses name their tools differently.
  return (body.tools as { name?: string; function?: { name: string } }[]).map(
    tool => tool.function?.name ?? tool.name ?? '',
  )
}
export const isQuestion = (request: SeenRequest) => toolsOf(request).length === 1

/** The questions to the reviewer that a model server has received, by their tools. */
export const questionsOf = ({ requests }: { requests: SeenRequest[] }) =>
  requests.filter(isQuestion).map(request => toolsOf(request)[0])

/** One server for both: `agent` responds in order, `reviewer` by how often it was called. */
export function both(agent: FakeReply[], reviewer: (n_calls: number) => FakeReply): FakeScript {
  let [n, n_calls] = [0, 0]
  return request =>
    isQuestion(request)
      ? reviewer(++n_calls)
      : (agent[n++] ?? { text: 'There is nothing more in this script.' })
}

export const words = { title: 'Count to two', body: 'Exports `two`.\n\nNot tested.' }
/** The response to a review; `more`: its part about the pull request. */
export const review = (verdict: string, findings: object[] = [], more: object = words) =>
  calls({ name: 'commit_verdict', arguments: { verdict, findings, ...more } })

/** The evaluations in the trace, in order. */
export const evaluations = async (app: CodingApp, id: number) =>
  (await allLogs(app, id))
    .filter(({ message_type }) => message_type === 'COMMIT_EVALUATION' || message_type === 'PR_EVALUATION')
    .map(({ message_type, observation: { verdict, findings, evaluated_by } }) => ({
      message_type,
      verdict,
      evaluated_by,
      bodies: findings.map((finding: { body: string }) => finding.body) as string[],
    }))

export const prOf = async (app: CodingApp, id: number) =>
  (await app.call('GET', `/v1/organizations/${app.org_id}/prs?agent_run_id=${id}`)).body.items[0]
