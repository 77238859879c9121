import { type App, rows } from '../../start-app.ts'

/**
 * Gives a run a pushed branch and a pull request of it, as a finished turn leaves them; returns the pull
 * request's id.
 */
export async function putPullRequest(
  app: App,
  run_id: number,
  state: 'open' | 'closed' | 'merged' = 'open',
): Promise<number> {
  const branch = `agent/run-${run_id}-x`
  await rows(
    app,
    `update runs
      set branch = $2, base_ref = 'main', base_sha = 'a', head_sha = 'b', pushed_sha = 'b'
      where id = $1`,
    [run_id, branch],
  )
  const [pr] = await rows<{ id: number }>(
    app,
    `insert into pull_requests (
        organization_id, repository_id, run_id, number, state, title, body, url, head_branch, base_branch,
        base_sha, head_sha, files_changed, additions, deletions, merge_sha, merged_at
      )
      values (
        $1, $2, $3::bigint, $3::int, $4, 'T', 'B', 'http://x/1', $5, 'main', 'a', 'b', 1, 2, 3,
        case when $4 = 'merged' then 'm' end, case when $4 = 'merged' then now() end
      )
      returning id`,
    [app.org_id, app.repo_id, run_id, state, branch],
  )
  return pr?.id ?? 0
}
