import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { type CodingApp, calls, responses, shell, startCodingApp } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'

const secret = `key-${randomBytes(12).toString('hex')}`
const jwt = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"1234567890"}').toString('base64url')}.${'aB3'.repeat(14)}`
let app: CodingApp
let token: string

beforeAll(async () => {
  app = await startCodingApp(
    responses(
      {
        reasoning: `The key is ${secret}.`,
        text: `Print ${jwt}`,
        ...calls(shell('echo "$KEY $(echo "x$KEY" | base64 -w 9)"')),
      },
      calls(shell(`echo ${jwt}; exit 1`), {
        name: 'write',
        arguments: { path: 'a.txt', content: `${jwt}\n` },
      }),
      calls({ name: 'ask', arguments: { question: `Is it ${secret}?` } }),
      { text: 'Done.' },
    ),
  )
  const at = `/v1/organizations/${app.org_id}`
  await app.call('PUT', `${at}/secrets/KEY`, { value: secret, for_agent: true })
  token = (await app.call('POST', `${at}/tokens`, { name: 'greppable' })).body.token
  expect(token).toMatch(/^arun_p_/)
})
afterAll(() => app[Symbol.asyncDispose]())

const messages = (n: number) => (app.model.requests[n]?.body.messages ?? []) as unknown[]

test('the next owner of a run sends the model the same conversation as before', async () => {
  const { id } = await createRun(app, { prompt: 'Go.' })
  await awaitRun(app, id, run => run.status === 'waiting')
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'Yes.',
  })
  await awaitEnd(app, id)
  expect(app.model.requests).toHaveLength(4)
  const seen = messages(2)
  expect(seen.length).toBeGreaterThan(4)
  expect(JSON.stringify(seen)).toContain('[redacted:KEY]')
  expect(JSON.stringify(seen)).toContain('[redacted:jwt]')
  expect(messages(3).slice(0, seen.length)).toEqual(seen)
  for (const text of [secret, jwt]) expect(JSON.stringify(messages(3))).not.toContain(text)
})

test('a file that the model writes holds what it wrote', async () => {
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)
  expect(app.git('show', `${body.items[0].branch}:a.txt`)).toBe(`${jwt}\n`)
})

test('a token of ours is in no row, no file and no line of the log, for every use and author', async () => {
  const { id } = await createRun(
    {
      ...app,
      call: (method, path, body) => app.call(method, path, body, { authorization: `Bearer ${token}` }),
    },
    {
      prompt: `Go.\n\n\`\`\`playbook\n- run: echo ${app.token}\n- answer: done\n\`\`\``,
      model: 'scripted/playbook',
    },
  )
  await awaitEnd(app, id)
  await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs?q=${token}`, undefined, {
    authorization: `Bearer ${token}`,
  })
  const tables = await rows<{ name: string }>(
    app,
    `select tablename as name from pg_tables where schemaname = 'public'`,
  )
  for (const value of [token, app.token]) {
    for (const { name } of tables)
      expect({
        name,
        found: await rows(app, `select 1 from ${name} t where strpos(t::text, $1) > 0`, [value]),
      }).toEqual({
        name,
        found: [],
      })
    expect(JSON.stringify(app.logs)).not.toContain(value)
  }
  for (const { parentPath, name } of readdirSync(app.data_dir, {
    recursive: true,
    withFileTypes: true,
  }).filter(entry => entry.isFile()))
    expect(readFileSync(join(parentPath, name), 'latin1')).not.toContain(token)
})
