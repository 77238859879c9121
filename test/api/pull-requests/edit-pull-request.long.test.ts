import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rows } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { type ForgeApp, startForgeApp } from '../repositories/proposals.ts'

let app: ForgeApp
let n = 0
beforeAll(async () => {
  app = await startForgeApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (id: number) => `/v1/organizations/${app.org_id}/prs/${id}`
const edit = (id: number, body: unknown) => app.call('PATCH', path(id), body)
const get = async (id: number) => (await app.call('GET', path(id))).body
const change = () => app.propose({ [`change-${++n}.txt`]: 'x\n' })

describe('200', () => {
  test('title and text, with the state or without it, in one change', async () => {
    const { id, run_id } = await change()
    const words = { title: '  Another title ', body: '# Why\n\n<b>because</b>' }
    expect((await edit(id, { ...words, state: 'draft' })).body).toMatchObject({
      success: true,
      title: 'Another title',
      state: 'draft',
      error: null,
    })
    expect(await get(id)).toMatchObject({ title: 'Another title', body: words.body, state: 'draft' })
    expect((await edit(id, { body: '' })).body).toMatchObject({
      success: true,
      title: 'Another title',
      state: 'draft',
    })
    expect(await get(id)).toMatchObject({ body: '', base_branch: 'main' })
    const events = await rows(
      app,
      `select body
        from events
        where run_id = $1 and type = 'agent_run.pull_request'
        order by seq`,
      [run_id],
    )
    expect(events).toHaveLength(2)
    const [entry] = await rows<{ detail: string }>(
      app,
      `select detail
        from audit_entries
        where action = 'pull_request.edited' and target_id = $1
        order by id
        limit 1`,
      [String(id)],
    )
    expect(JSON.parse(entry?.detail ?? '')).toEqual({
      from: 'open',
      to: 'draft',
      title: { from: `Change ${run_id}`, to: 'Another title' },
      body: 'changed',
    })
  })

  test('unchanged values change nothing', async () => {
    const { id, run_id } = await change()
    const before = await contents(app)
    expect(
      (await edit(id, { title: `Change ${run_id}`, body: 'Because.', base_branch: 'main', state: 'open' }))
        .body.success,
    ).toBe(true)
    expect(await contents(app)).toEqual(before)
  })

  test('another base, with the counts against it', async () => {
    app.put('release', { 'release.txt': 'r\n' })
    const { id, branch } = await change()
    app.put(branch, { 'more.txt': '1\n2\n' })
    expect((await edit(id, { base_branch: 'release' })).body.success).toBe(true)
    expect(await get(id)).toMatchObject({
      base_branch: 'release',
      files_changed: 2,
      additions: 3,
      deletions: 0,
      mergeable: 'clean',
    })
    const merged = await app.call('POST', `${path(id)}/merge`)
    expect(merged.body).toMatchObject({
      state: 'merged',
      base_branch: 'release',
      merge_sha: app.git('rev-parse', 'release'),
    })
  })

  test('an invalid base is reported, and nothing is changed', async () => {
    const { id, branch } = await change()
    const before = await contents(app)
    for (const [base_branch, why] of [
      ['never', 'has no branch never'],
      [branch, 'cannot be merged into itself'],
      ['--all', 'has no branch --all'],
      ['refs/../x', 'has no branch'],
    ])
      expect((await edit(id, { base_branch, title: 'x', state: 'closed' })).body).toMatchObject({
        success: false,
        state: 'open',
        error: expect.stringContaining(why ?? ''),
      })
    expect(await contents(app)).toEqual(before)
  })

  test('a merged one keeps state and base, and its text may change', async () => {
    const { id } = await change()
    await app.call('POST', `${path(id)}/merge`)
    expect((await edit(id, { base_branch: 'release' })).body).toMatchObject({
      success: false,
      error: expect.stringContaining('merged'),
    })
    expect((await edit(id, { state: 'draft', title: 'x' })).body).toMatchObject({
      success: false,
      state: 'merged',
    })
    expect((await edit(id, { title: 'Better described' })).body).toMatchObject({
      success: true,
      state: 'merged',
      title: 'Better described',
    })
    expect(await get(id)).toMatchObject({ state: 'merged', title: 'Better described' })
  })

  test('a reopened one has the commit that its branch has at that time', async () => {
    const { id, branch } = await change()
    await edit(id, { state: 'closed' })
    const head_sha = app.put(branch, { 'meanwhile.txt': 'x\n' })
    expect((await edit(id, { state: 'open' })).body).toMatchObject({ success: true, state: 'open' })
    expect(await get(id)).toMatchObject({ head_sha, files_changed: 2 })
  })
})

test('400 for an empty request, and for an invalid title, text or branch', async () => {
  const { id } = await change()
  expectProblem(await edit(id, {}), 400, 'body.state')
  expectProblem(await edit(id, { title: ' ' }), 400, 'body.title')
  expectProblem(await edit(id, { title: 'x'.repeat(201) }), 400, 'body.title')
  expectProblem(await edit(id, { body: 'x'.repeat(65_537) }), 400, 'body.body')
  expectProblem(await edit(id, { body: 'a\0b' }), 400, 'body.body')
  expectProblem(await edit(id, { base_branch: '' }), 400, 'body.base_branch')
  expectProblem(await edit(id, { title: null }), 400, 'body.title')
})
