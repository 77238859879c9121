import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { PictureService } from './service.ts'
import type { Team } from './team.ts'

/** The commits of the agent contain the time of their creation, so each run of the script names others. */
async function commitsOf({ ada, pull_requests }: Team): Promise<string[]> {
  const lists = await Promise.all(
    pull_requests.all.map(async pr_id => {
      const [{ items }, { head_sha, merge_sha }] = await Promise.all([
        ada.call('listPullRequestCommits', { params: { pr_id }, query: { limit: 100 } }),
        ada.call('getPullRequest', { params: { pr_id } }),
      ])
      return [...items.map(({ sha }) => sha), head_sha, merge_sha]
    }),
  )
  return [...new Set(lists.flat().filter(sha => sha !== null && sha !== undefined))]
}

/**
 * Returns texts of the service that differ from run to run or from machine to machine, each with what the
 * pictures show instead.
 */
export async function replacedTexts(service: PictureService, team: Team): Promise<[string, string][]> {
  const commits = await commitsOf(team)
  const names = commits.map((_sha, index) => createHash('sha1').update(`commit ${index}`).digest('hex'))
  return [
    [service.folder, '/srv'],
    [service.receiver, 'https://hooks.acme.example/agent-runs'],
    [new URL(service.receiver).host, 'hooks.acme.example'],
    [service.sign_in_server, 'https://tracker.example'],
    [`"host":"${hostname()}"`, '"host":"worker-1"'],
    ...commits.flatMap((sha, index): [string, string][] =>
      [40, 12].map(
        length => [sha.slice(0, length), (names[index] ?? '').slice(0, length)] as [string, string],
      ),
    ),
  ]
}
