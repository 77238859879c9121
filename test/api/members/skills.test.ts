import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Skill, SkillPage } from '../../../src/contract/organizations/skills.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const at = (name = '', org_id = app.org_id) =>
  `/v1/organizations/${org_id}/skills${name === '' ? '' : `/${name}`}`
const textOf = (name: string, description: string, body = 'Do it.\n') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}`
const put = (name: string, content: unknown) => app.call('PUT', at(name), { content })

test('200: a skill is set, listed by name without its text, replaced and deleted, for this organization alone', async () => {
  const first = await put('release', textOf('release', 'Use it to publish.'))
  expect(first.status).toBe(200)
  expect(Skill.strict().parse(first.body)).toMatchObject({
    name: 'release',
    description: 'Use it to publish.',
    content: textOf('release', 'Use it to publish.'),
    updated_by: app.user_id,
  })
  await put('audit-2', textOf('audit-2', '|\n  Two\n  lines.'))
  const { content, ...summary } = first.body
  const { body } = await app.call('GET', at())
  expect(SkillPage.strict().parse(body)).toMatchObject({
    items: [{ name: 'audit-2', description: 'Two lines.' }, summary],
    total: 2,
  })
  expect(JSON.stringify(body)).not.toContain('Do it.')
  const again = await put('release', textOf('release', 'Changed.'))
  expect(again.body).toMatchObject({ description: 'Changed.', created_at: summary.created_at })
  expect((await app.call('GET', at('release'))).body).toEqual(again.body)
  const theirs = await app.call('GET', at('', other.org_id), undefined, {
    authorization: `Bearer ${other.token}`,
  })
  expect(theirs.body.items).toMatchObject([{ name: 'release', description: 'secret of Other' }])
  expect((await app.call('DELETE', at('release'))).body).toEqual(again.body)
  expect((await app.call('GET', at())).body.items).toMatchObject([{ name: 'audit-2' }])
  const actions = await rows(
    app,
    `select action
      from audit_entries
      where target_type = 'skill' and target_id = 'release'
      order by id`,
    [],
  )
  expect(actions).toEqual([{ action: 'skill.set' }, { action: 'skill.set' }, { action: 'skill.deleted' }])
})

describe('400', () => {
  const front = (lines: string) => `---\n${lines}\n---\nDo it.\n`
  test.each([
    ['# Release\nTag it.\n', 'without front matter'],
    ['---\nname: release\ndescription: never ends\n', 'without front matter'],
    [front('description: Use it.'), 'has no name'],
    [front('name: other\ndescription: Use it.'), 'has the name "other"'],
    [front('name: release'), 'has no description'],
    [front('name: release\ndescription: "  "'), 'has no description'],
    [front(`name: release\ndescription: ${'d'.repeat(1_025)}`), '1025 characters'],
    [
      front('name: release\ndescription: Use it.\ndisable-model-invocation: true'),
      'disable-model-invocation',
    ],
    [textOf('release', 'Use it.', ' \n'), 'has no text'],
  ])('%j: the error names the field and what is missing', async (content, message) => {
    const before = await contents(app)
    const problem = expectProblem(await put('release', content), 400, 'body.content')
    expect(problem.errors[0]?.msg).toContain(message)
    expect(await contents(app)).toEqual(before)
  })

  test('a text or a name that no skill may have', async () => {
    for (const content of [undefined, null, 1, '', 'x\0', 'x'.repeat(100_001)])
      expectProblem(await put('release', content), 400, 'body.content')
    for (const name of ['Release', 'a--b', '-a', 'a_b', 'a%2Fb', 'a'.repeat(65)])
      expectProblem(await put(name, textOf(name, 'Use it.')), 400, 'path.skill')
  })
})

test('404: there is no such skill', async () => {
  expectProblem(await app.call('GET', at('none')), 404)
  expectProblem(await app.call('DELETE', at('none')), 404)
})

test('409: there are 50 skills, and one of them can still be changed', async () => {
  await rows(
    app,
    `insert into skills (organization_id, name, description, content, updated_by)
      select $1, 'many-' || n, 'd', 'c', $2
      from generate_series(1, 50 - (select count(*)::int from skills where organization_id = $1)) n`,
    [app.org_id, app.user_id],
  )
  expectProblem(await put('one-more', textOf('one-more', 'Use it.')), 409)
  expect((await put('many-1', textOf('many-1', 'Use it.'))).status).toBe(200)
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/limits`)
  expect(body.items.find((limit: { name: string }) => limit.name === 'skills')).toMatchObject({
    value: 50,
    used: 50,
  })
})
