import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accept } from '../api/members/start-members.ts'
import { type App, rows, startApp } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type CliOptions, runCli } from './run-cli.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const cli = (args: string[], options: CliOptions = {}) =>
  runCli(args, { ...options, env: { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token, ...options.env } })
const listed = async (what: string) =>
  (await app.call('GET', `/v1/organizations/${app.org_id}/${what}`)).body.items

describe('repos', () => {
  test('registers, sets the default and removes, by name or id, and prints the response of the API', async () => {
    const added = await cli([
      'repos',
      'add',
      'https://git.example.org/acme/shop.git',
      '--branch',
      'develop',
      '--json',
    ])
    const { id } = JSON.parse(added.out)
    expect(JSON.parse(added.out)).toEqual(
      (await app.call('GET', `/v1/organizations/${app.org_id}/repos/${id}`)).body,
    )
    expect(JSON.parse(added.out)).toMatchObject({ default_branch: 'develop', is_default: false })

    const second = await cli([
      'repos',
      'add',
      'https://git.example.org/acme/other.git',
      '--name',
      'second',
      '--default',
    ])
    expect(second).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^registered: \d+ acme\/other \(second\), the default, https:\/\/git\.example\.org\/acme\/other\.git\n$/,
      ),
    })
    expect((await listed('repos')).filter((item: { is_default: boolean }) => item.is_default)).toMatchObject([
      { name: 'second' },
    ])
    expect((await cli(['repos', 'default', String(id)])).out).toMatch(/^changed: /)
    expect(
      JSON.parse((await cli(['repos', 'set', String(id), '--branch-prefix', 'bots/', '--json'])).out),
    ).toMatchObject({
      branch_prefix: 'bots/',
    })
    expect(await cli(['repos', 'set', String(id)])).toMatchObject({ code: 2 })
    expect((await cli(['repos', 'remove', 'second'])).out).toMatch(
      /^removed: \d+ acme\/other \(second\) https/,
    )
    expect((await cli(['repos', 'remove', String(id), '--json'])).code).toBe(0)
    expect(await listed('repos')).toHaveLength(1)
  })

  test('reports what is missing, and passes on what the service refuses', async () => {
    expect(await cli(['repos', 'add'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('takes the address of a repository'),
    })
    expect(await cli(['repos', 'drop', '1'])).toMatchObject({ code: 2 })
    expect(await cli(['repos', 'add', 'file:///etc'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^agentrun: /),
    })
    expect(await cli(['repos', 'remove', 'nobody'])).toMatchObject({
      code: 1,
      err: 'agentrun: no single repository matches nobody; there are 1 sample/invoice\n',
    })
  })
})

describe('tokens', () => {
  test('creates one that works and is printed alone, lists it without its secret, and revokes it', async () => {
    const created = await cli([
      'tokens',
      'create',
      'nightly build',
      '--scope',
      'runs:read',
      '--scope',
      'org:read',
      '--expires-in',
      '90d',
      '--repo',
      'sample/invoice',
    ])
    expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^arun_p_\w{38}\n$/) })
    expect(created.err).toMatch(
      /^token \d+ for nightly build, runs:read org:read, until \S+; it is shown only now:\n$/,
    )
    const token = created.out.trim()
    const env = { AGENTRUN_TOKEN: token, AGENTRUN_ORG: String(app.org_id) }
    expect((await cli(['runs', '--json'], { env })).code).toBe(0)
    expect(await cli(['run', 'x'], { env })).toMatchObject({
      code: 1,
      err: expect.stringContaining('runs:write'),
    })

    const [row] = await listed('tokens')
    expect(row).toMatchObject({ name: 'nightly build', repository_ids: [app.repo_id] })
    const shown = await cli(['tokens'])
    expect(shown.out).toMatch(/^ID +NAME +TOKEN +STATE +LAST USED +REACH\n/)
    expect(shown.out).toMatch(
      new RegExp(
        `^${row.id} +nightly build +arun_p_…${token.slice(-4)} +good +\\S+ +runs:read org:read, until`,
        'm',
      ),
    )
    expect(shown.out).not.toContain(token)
    expect(JSON.parse((await cli(['tokens', 'list', '--json', '--limit', '1'])).out).items).toEqual(
      await listed('tokens?limit=1'),
    )

    expect((await cli(['tokens', 'revoke', String(row.id)])).out).toBe(`revoked: ${row.id} nightly build\n`)
    expect((await cli(['runs'], { env })).code).toBe(4)
    expect((await cli(['tokens'])).out).toMatch(new RegExp(`^${row.id} .* revoked `, 'm'))
  })

  test('reports what is wrong', async () => {
    expect(await cli(['tokens', 'create'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('takes a name'),
    })
    expect(await cli(['tokens', 'create', 'x', '--expires-in', 'soon'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('like 90d, 12h or 30m'),
    })
    expect(await cli(['tokens', 'create', 'x', '--scope', 'everything'])).toMatchObject({ code: 1, out: '' })
    expect(await cli(['tokens', 'revoke', '424242'])).toMatchObject({ code: 1 })
  })
})

test('run --dry-run starts nothing, prints what would be started, and fails when an obstacle exists', async () => {
  const { total } = (await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)).body
  await rows(app, 'update workers set concurrency = 1')
  const rehearsed = await cli(['run', 'Look around', '--review', 'rules', '--dry-run'])
  expect(rehearsed.out).toMatch(/^repository +1 sample\/invoice$/m)
  expect(rehearsed.out).toMatch(/^base +main at [0-9a-f]{12}$/m)
  expect(rehearsed.out).toMatch(/^model +scripted\/playbook, default effort, agent built_in$/m)
  expect(rehearsed.out).toMatch(/^review +by rules alone$/m)
  expect(rehearsed.out).toMatch(/^setup +none$/m)
  expect(rehearsed.out).toMatch(/^usual start +not known yet$/m)
  expect(rehearsed.code).toBe(0)
  const path = `/v1/organizations/${app.org_id}/repos/${app.repo_id}/setup-commands`
  await app.call('PUT', path, { commands: ['npm ci', 'npm test'] })
  expect((await cli(['run', 'Look around', '--dry-run'])).out).toMatch(/^setup +2 commands to run first$/m)
  await app.call('PUT', path, { commands: [] })
  const blocked = await cli(['run', 'x', '--dry-run', '--json', '--model', 'nobody/nothing'])
  expect(blocked.code).toBe(1)
  expect(JSON.parse(blocked.out).blocking_problems[0]).toMatchObject({
    detail: expect.stringContaining('nobody/nothing'),
  })
  expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)).body.total).toBe(total)
})

test('skills are set from a file, listed, shown and deleted, and what the service refuses is passed on', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'SKILL.md')
  const content = '---\nname: release\ndescription: Use it to publish.\n---\nTag it.\n'
  writeFileSync(file, content)
  expect((await cli(['skills'])).out).toBe('no skills\n')
  expect((await cli(['skills', 'set', 'release', file])).out).toBe('set: release: Use it to publish.\n')
  expect((await cli(['skills', 'list'])).out).toBe('NAME     DESCRIPTION\nrelease  Use it to publish.\n')
  expect((await cli(['skills', 'show', 'release'])).out).toBe(content)
  expect(JSON.parse((await cli(['skills', '--json'])).out).items).toEqual(await listed('skills'))
  writeFileSync(file, 'Tag it.\n')
  expect(await cli(['skills', 'set', 'release', file])).toMatchObject({
    code: 1,
    err: expect.stringContaining('without front matter'),
  })
  expect((await cli(['skills', 'delete', 'release'])).out).toBe('deleted: release: Use it to publish.\n')
  expect(await cli(['skills', 'set', 'release'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('takes the name of a skill and a file'),
  })
  expect(await cli(['skills', 'show', 'release'])).toMatchObject({ code: 1 })
})

describe('egress', () => {
  test('shows and changes what the organization and a repository allow, as the API has it', async () => {
    const set = async (path: string) =>
      (await app.call('GET', `/v1/organizations/${app.org_id}${path}`)).body.agent
    expect((await cli(['egress'])).out).toBe('mode     default\n')
    await cli(['egress', 'mode', 'allowlist'])
    await cli(['egress', 'preset', 'npm'])
    await cli(['egress', 'allow', 'docs.example.com:8443'])
    const shown = await cli(['egress', 'allow', '*.plain.example', '--method', 'GET', '--method', 'HEAD'])
    expect(shown.out).toBe(
      'mode     allowlist\npreset   npm\nallow    docs.example.com:8443\nallow    *.plain.example GET HEAD\n',
    )
    expect(await set('/egress')).toEqual({
      mode: 'allowlist',
      presets: ['npm'],
      allow: [
        { host: 'docs.example.com', port: 8443 },
        { host: '*.plain.example', methods: ['GET', 'HEAD'] },
      ],
    })
    await cli(['egress', 'setup', 'allowlist'])
    for (const what of ['npm', 'docs.example.com:8443', '*.plain.example'])
      expect((await cli(['egress', 'remove', what])).code).toBe(0)
    expect(JSON.parse((await cli(['egress', 'mode', 'default', '--json'])).out)).toEqual({
      agent: { mode: null, presets: [], allow: [] },
      setup: { mode: 'allowlist' },
    })
    await cli(['egress', 'setup', 'default'])

    await cli(['egress', 'allow', 'a.example', '--repo', 'sample/invoice'])
    await cli(['egress', 'mode', 'off', '--repo', String(app.repo_id)])
    expect(await set(`/repos/${app.repo_id}/egress`)).toEqual({
      mode: 'off',
      presets: [],
      allow: [{ host: 'a.example' }],
    })
    expect((await cli(['egress', 'show', '--repo', 'sample/invoice'])).out).toBe(
      'mode     off\nallow    a.example\n',
    )
  })

  test('reports what is missing, and passes on what the service refuses', async () => {
    expect(await cli(['egress', 'allow'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('takes one more word'),
    })
    expect(await cli(['egress', 'remove', 'cpan'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('no rule and no preset'),
    })
    for (const args of [
      ['allow', '*'],
      ['allow', '10.0.0.1'],
      ['preset', 'cpan'],
      ['mode', 'on'],
      ['allow', 'a.example', '--method', 'get'],
    ])
      expect(await cli(['egress', ...args])).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^agentrun: /),
      })
  })
})

describe('members', () => {
  test('are invited with a link that is printed alone, listed, changed and removed; invitations are listed and revoked', async () => {
    const invited = await cli(['members', 'add', 'Ada@Example.org', '--role', 'READER', '--name', 'Ada'])
    expect(invited).toMatchObject({ code: 0, err: expect.stringContaining('ada@example.org as READER') })
    expect(invited.out).toMatch(/^http:\S+\/invitation#code=[\w-]{32}\n$/)
    expect((await cli(['members', 'invitations'])).out).toMatch(/^\d+ +READER +ada@example\.org +Ada /m)
    expect((await accept(app, invited.out.trim())).status).toBe(200)
    const [id] = /^\d+(?= +READER +ada@example\.org)/m.exec((await cli(['members'])).out) ?? []
    expect((await cli(['members', 'role', id ?? '', 'MEMBER'])).out).toBe(
      'changed: ada@example.org, MEMBER\n',
    )
    expect((await cli(['members', 'link', id ?? ''])).out).toMatch(/\/sign-in#code=[\w-]{32}\n$/)
    expect((await cli(['members', 'remove', id ?? ''])).out).toBe('removed: ada@example.org, MEMBER\n')
    const other = JSON.parse((await cli(['members', 'add', 'bob@example.org', '--json'])).out)
    expect((await cli(['members', 'revoke', String(other.id)])).out).toBe(
      'revoked: bob@example.org, MEMBER\n',
    )
    expect(await cli(['members', 'accept', other.invitation_link])).toMatchObject({
      code: 1,
      err: expect.stringContaining('revoked'),
    })
    expect(await cli(['members', 'role', '1', 'OWNER'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('MANAGER'),
    })
  })
})
