import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  PullRequestCommitPage,
  PullRequestDiff,
} from '../../../src/contract/pull-requests/pull-request-contents.ts'
import { rows } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { type ForgeApp, type Proposal, startForgeApp } from '../repositories/proposals.ts'

let app: ForgeApp
let pr: Proposal
let second: string
beforeAll(async () => {
  app = await startForgeApp()
  pr = await app.propose({ 'a.txt': 'a\nmore\n' })
  second = app.put(pr.branch, { 'c.txt': 'c\n' })
  await rows(app, `update pull_requests set head_sha = $2, state = 'closed' where id = $1`, [pr.id, second])
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (id: number | string, what: string) => `/v1/organizations/${app.org_id}/prs/${id}/${what}`
const commits = (query = '', id: number | string = pr.id) => app.call('GET', path(id, `commits${query}`))
const diff = (query = '', id: number | string = pr.id) => app.call('GET', path(id, `diff${query}`))

describe('200 commits', () => {
  test('oldest first, with every field, page by page', async () => {
    const { status, body } = await commits()
    expect(status).toBe(200)
    const { items, total } = PullRequestCommitPage.strict().parse(body)
    expect(items.map(item => item.sha)).toEqual([pr.head_sha, second])
    expect(total).toBe(2)
    const dates = app.git('log', '-1', '--format=%at', second)
    expect(items[1]).toEqual({
      sha: second,
      parents: [pr.head_sha],
      message: `change ${pr.branch}`,
      author_name: 'Ada',
      author_email: 'ada@example.org',
      authored_at: new Date(Number(dates) * 1000).toISOString(),
      committed_at: new Date(Number(dates) * 1000).toISOString(),
    })
    expect((await commits('?limit=1')).body).toMatchObject({
      items: [{ sha: pr.head_sha }],
      total: 2,
      pages: 2,
    })
    expect((await commits('?limit=1&skip=1')).body.items).toMatchObject([{ sha: second }])
    expect((await commits('?skip=2')).body).toMatchObject({ items: [], total: 2 })
  })

  test('other commits of the base are excluded, and a merged pull request keeps its own', async () => {
    app.put('main', { 'b.txt': 'other\n' })
    const { body: before } = await commits()
    expect(before.total).toBe(2)
    const { id } = await app.propose({ 'merged.txt': 'x\n' })
    const unmerged = await commits('', id)
    await app.call('POST', path(id, 'merge'))
    expect((await commits('', id)).body).toEqual(unmerged.body)
    expect((await diff('', id)).body).toMatchObject({ files: [{ path: 'merged.txt' }], files_changed: 1 })
  })

  test('a commit with unusual metadata', async () => {
    const { id, branch } = await app.propose({ 's.txt': 'x\n' })
    const tree = app.git('rev-parse', `${branch}^{tree}`)
    const identity = ['-c', 'user.name=\u202eevil <b>', '-c', 'user.email=x']
    const sha = app.git(
      ...identity,
      'commit-tree',
      '-p',
      branch,
      '-m',
      '<script>alert(1)</script>\n\n\u001b[31mred',
      tree,
    )
    app.git('update-ref', `refs/heads/${branch}`, sha)
    await rows(app, `update pull_requests set head_sha = $2, state = 'closed' where id = $1`, [id, sha])
    const { items } = (await commits('', id)).body
    expect(items[1]).toMatchObject({ sha, message: '<script>alert(1)</script>\n\n\u001b[31mred' })
  })
})

describe('200 diff', () => {
  test('as JSON and as a patch', async () => {
    const { status, body } = await diff()
    expect(status).toBe(200)
    expect(PullRequestDiff.strict().parse(body)).toMatchObject({
      pr_id: pr.id,
      head_sha: second,
      files_changed: 2,
      additions: 2,
      deletions: 0,
      patch_truncated: false,
      files: [
        { path: 'a.txt', status: 'modified' },
        { path: 'c.txt', status: 'added' },
      ],
    })
    const patch = await diff('?format=patch')
    expect([patch.headers.get('content-type'), patch.body]).toEqual([
      'text/x-patch; charset=utf-8',
      body.patch,
    ])
    expect(patch.body).toContain('+more')
  })
})

test('400 for another format, and for an invalid page', async () => {
  expectProblem(await diff('?format=html'), 400, 'query.format')
  expectProblem(await commits('?limit=0'), 400, 'query.limit')
})

test('404 for a nonexistent one', async () => {
  expectProblem(await commits('', 424_242), 404)
  expectProblem(await diff('', 424_242), 404)
})

test('409 for one whose commit the repository no longer has', async () => {
  const { id } = await app.propose({ 'gone.txt': 'x\n' })
  await rows(app, `update pull_requests set head_sha = $2, state = 'closed' where id = $1`, [
    id,
    'd'.repeat(40),
  ])
  for (const response of [await commits('', id), await diff('', id)])
    expect(expectProblem(response, 409).detail).toContain('no more')
})
