import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSealer } from '../../src/core/secrets/sealing.ts'
import { ownSecretKey } from '../../src/system/secret-key.ts'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'

const value = (name: string) => `${name}-${randomBytes(9).toString('hex')}`
let app: CodingApp
/** The next response of the model of the active run. */
let script: Parameters<typeof calls>[0][] = []

beforeAll(async () => {
  app = await startCodingApp(() => {
    const next = script.shift()
    return next === undefined ? { text: 'Done.' } : calls(next)
  })
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (name: string, repo_id?: number) =>
  `/v1/organizations/${app.org_id}/${repo_id === undefined ? '' : `repos/${repo_id}/`}secrets/${name}`
const set = async (name: string, secret: string, for_agent = true, repo_id?: number) => {
  const response = await app.call('PUT', path(name, repo_id), { value: secret, for_agent })
  expect(response.status).toBe(200)
}
async function run(commands: Parameters<typeof calls>[0][], body: Record<string, unknown> = {}) {
  script = [...commands]
  const { id } = await createRun(app, { prompt: 'Go.', ...body })
  const ended = await awaitEnd(app, id)
  return { id, ended, logs: await allLogs(app, id) }
}
const output = (logs: Awaited<ReturnType<typeof run>>['logs'], tool = 'shell') =>
  logs.find(entry => entry.tool_name === tool)?.tool_output.output

test("a repository's secret overrides the organization's of the same name, even if it is not for agents", async () => {
  const [ours, theirs, hidden] = [value('ours'), value('theirs'), value('hidden')]
  await set('BOTH', ours)
  await set('BOTH', theirs, true, app.repo_id)
  await set('SHUT', value('open'))
  await set('SHUT', hidden, false, app.repo_id)
  const { logs } = await run([
    shell('printf "%s" "$BOTH" | sha256sum | cut -c1-64; test -v SHUT || echo "no SHUT"'),
  ])
  const digest = createHash('sha256').update(theirs).digest('hex')
  expect(output(logs)).toBe(`${digest}\nno SHUT\n`)
})

test('a secret never sets a reserved variable of the sandbox, also when one of that name is stored', async () => {
  await set('TRICK', value('trick'))
  const location = { organization_id: app.org_id, scope: 'organization', name: 'BASH_ENV' }
  const { key_id, sealed } = createSealer(ownSecretKey(app.data_dir)).seal(location, value('trick'))
  await rows(
    app,
    `update secrets
    set name = 'BASH_ENV', key_id = $1, sealed = $2
    where name = 'TRICK'`,
    [key_id, sealed],
  )
  const { logs, ended } = await run([shell('test -v BASH_ENV || echo none')])
  expect(ended.status).toBe('completed')
  expect(output(logs)).toBe('none\n')
  await rows(app, `delete from secrets where name = 'BASH_ENV'`)
})

test('agents get the names, and no value is on a command line or in the other sandbox of the run', async () => {
  const secret = value('told')
  await set('TOLD', secret)
  const { id, logs } = await run([
    shell(
      'echo "$TOLD" > /tmp/needle; cat /proc/*/cmdline | tr "\\0" "\\n" | grep -cf /tmp/needle; for p in /proc/[0-9]*; do tr "\\0" "\\n" <$p/environ | grep -c "^TOLD="; done | sort -u',
    ),
  ])
  expect(output(logs)).toMatch(/^0\n/)
  const requested = JSON.stringify(app.model.requests.at(-1)?.body)
  expect(requested).toContain('TOLD')
  expect(requested).not.toContain(secret)
  const given = logs.filter(entry => entry.tool_name === 'sandbox_secrets')
  expect(given).toMatchObject([{ tool_output: { names: expect.arrayContaining(['TOLD']) } }])
  expect(id).toBeGreaterThan(0)
})

/** Every object that was ever pushed. */
const pushed = () =>
  execFileSync('git', ['cat-file', '--batch', '--batch-all-objects', '--unordered'], {
    cwd: app.repository,
    maxBuffer: 2 ** 28,
  })

test('a file that contains a value is not pushed, and the run names the file and the secret', async () => {
  const secret = value('committed')
  await set('COMMITTED', secret)
  const { ended, logs } = await run([
    shell(
      'echo "key = $COMMITTED" > config.ini && git add -A && git commit -qm one && echo fine > other.txt',
    ),
  ])
  expect(ended).toMatchObject({ status: 'failed', status_reason: 'policy_denied', github_pull_requests: [] })
  expect(ended.error).toMatchObject({
    code: 'secret_in_commit',
    message: expect.stringContaining('config.ini holds COMMITTED'),
  })
  expect(logs.at(-1)).toMatchObject({
    message_type: 'ERROR',
    observation: { code: 'secret_in_commit', phase: 'push' },
  })
  expect(logs.some(entry => entry.tool_name === 'git_push')).toBe(false)
  expect(app.git('branch', '--list', 'agent/*')).not.toContain(`run-${ended.id}-`)
  expect(JSON.stringify([ended, logs])).not.toContain(secret)

  script = [
    shell('git reset -q --soft HEAD~1 && git reset -q && echo "uses an environment variable" > config.ini'),
  ]
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: ended.id,
    prompt: 'Take it out.',
  })
  expect(await awaitEnd(app, ended.id)).toMatchObject({
    status: 'completed',
    github_pull_requests: [expect.anything()],
  })
})

test('a file that contains a value in a line that resembles the head of a patch is not pushed either', async () => {
  await set('DISGUISED', value('disguised'))
  const { ended, logs } = await run([
    shell(
      `printf '++ b/%s\\n' "$DISGUISED" > plus.txt; printf 'a\\rdiff --git a/x b/x\\n%s\\n' "$DISGUISED" > return.txt`,
    ),
    shell(
      `printf '\\r@@ x\\n++ /dev/null\\n%s\\n' "$DISGUISED" > at.txt; git add -A; git commit -qm one --author="A <$DISGUISED>"`,
    ),
  ])
  expect(ended).toMatchObject({ status: 'failed', error: { code: 'secret_in_commit' } })
  const files = ['plus.txt', 'return.txt', 'at.txt']
  expect(files.filter(file => !ended.error.message.includes(`${file} holds DISGUISED`))).toEqual([])
  const [first] = logs.filter(entry => entry.message_type === 'COMMIT_EVALUATION')
  expect(first.observation.findings.map((finding: { path: string | null }) => finding.path).sort()).toEqual(
    [...files, null].sort(),
  )
})

/** Creates a commit manually, its object as the agent likes it, on top of the last one. */
const commitOf = (header: string, message = 'one') =>
  `{ printf 'tree %s\\nparent %s\\nauthor A <a@b> 1 +0000\\ncommitter A <a@b> 1 +0000\\n' "$(git write-tree)" "$(git rev-parse HEAD)"; printf '${header}\\n\\n${message}\\n' ${header.includes('%s') || message.includes('%s') ? '"$VALUE"' : ''}; } >raw; git update-ref HEAD "$(git hash-object -t commit -w raw)"; rm raw; echo x >new`

test.each([
  ['a header that git does not show', commitOf('x-note %s')],
  ['what is called a signature', commitOf('gpgsig -----BEGIN\\n %s\\n -----END')],
  ['words with a wrong encoding label', commitOf('encoding UTF-16', '%s')],
  ['the name of a file without content', ': >"a-$VALUE"'],
  ['the name of a folder', 'mkdir "$VALUE"; echo x >"$VALUE/x"'],
  ['where a link leads', 'ln -s "/nowhere/$VALUE" link'],
  [
    'the name of a file that is gone again',
    'git mv README.md "r-$VALUE"; git commit -qm one; git mv "r-$VALUE" README.md; echo x >new',
  ],
  [
    'a merge that brings what neither side has',
    'git checkout -q -b side; git commit -q --allow-empty -m side; git checkout -q -; git commit -q --allow-empty -m main; git merge -q --no-commit --no-ff side; echo "$VALUE" >evil; git add -A; git commit -qm merge; rm evil; echo x >new',
  ],
  [
    'a history of its own',
    'git checkout -q --orphan alone; echo "$VALUE" >evil; git add -A; git commit -qm alone; git checkout -q -; git merge -q --allow-unrelated-histories -s ours -m both alone; echo x >new',
  ],
])(
  'D134: a commit with a value in %s is not pushed: it is recreated without, or not at all',
  async (_, hiding) => {
    const secret = value('hidden')
    await set('VALUE', secret)
    const { ended, logs } = await run([
      shell(
        `exec 2>&1; export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; ${hiding}; git log -1 --format=%h`,
      ),
    ])
    const [first] = logs.filter(entry => entry.message_type === 'COMMIT_EVALUATION')
    expect(first.observation.verdict).toBe('fail')
    // Words that are in no encoding may be unclear as well: git reads nothing in some of them.
    const codes = first.observation.findings.map((finding: { code: string }) => finding.code)
    expect(codes.filter((code: string) => code !== 'message_unclear')).toEqual(['secret_in_commit'])
    expect(pushed().includes(secret)).toBe(false)
    const there = app.git('branch', '--list', 'agent/*').includes(`run-${ended.id}-`)
    if (ended.status === 'failed')
      expect({ code: ended.error.code, there }).toEqual({ code: 'secret_in_commit', there: false })
    else expect({ status: ended.status, there }).toMatchObject({ status: 'completed', there: true })
  },
)

test('a word that is stored as a secret keeps no commit from being pushed', async () => {
  await set('REGION', 'eu-west-1')
  const { ended } = await run([shell('echo eu-west-1 > region.txt')])
  expect(ended).toMatchObject({ status: 'completed', github_pull_requests: [expect.anything()] })
})

test('the change of a run shows no value, neither as it was committed nor between two entries', async () => {
  const secret = value('changed')
  await set('CHANGED', secret, false)
  const { id, logs } = await run([
    { name: 'write', arguments: { path: `${secret}.txt`, content: `a\n${secret}\nb\n` } },
  ])
  const at = `/v1/organizations/${app.org_id}/agent/run/${id}/diff`
  for (const query of ['', `?from_seq=1&to_seq=${logs.length}`]) {
    const { body } = await app.call('GET', at + query)
    expect(body.patch).toContain('+[redacted:CHANGED]\n')
    expect(body.files[0].path).toBe('[redacted:CHANGED].txt')
    expect(JSON.stringify(body)).not.toContain(secret)
  }
})

test('messages of people are stored without values, and text that only resembles a credential unchanged', async () => {
  const secret = value('said')
  await set('STATED', secret, false)
  const token = `ghp_${'a1B2'.repeat(9)}`
  const { id, ended } = await run([], {
    prompt: `Use ${secret} and ${token}`,
    title: `With ${secret}`,
    metadata: { key: secret },
  })
  expect(ended).toMatchObject({
    prompt: `Use [redacted:STATED] and ${token}`,
    title: 'With [redacted:STATED]',
    metadata: { key: '[redacted:STATED]' },
  })
  const reported = JSON.stringify(app.model.requests.at(-1)?.body)
  expect(reported).toContain(`Use [redacted:STATED] and ${token}`)
  const renamed = await app.call('PATCH', `/v1/organizations/${app.org_id}/agent/run/${id}`, {
    title: `x ${secret}`,
    tags: [secret],
  })
  expect(renamed.body).toMatchObject({ title: 'x [redacted:STATED]', tags: ['[redacted:STATED]'] })
  script = []
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: `Again ${secret}`,
  })
  await awaitEnd(app, id)
  expect(
    (await allLogs(app, id)).findLast(entry => entry.message_type === 'USER_MESSAGE').observation.text,
  ).toBe('Again [redacted:STATED]')
})

test('a secret that cannot be decrypted is given to no run, and the run continues', async () => {
  await set('LOST', value('lost'))
  await rows(app, `update secrets set key_id = 'another' where name = 'LOST'`)
  const { ended, logs } = await run([shell('test -v LOST || echo none')])
  expect(ended.status).toBe('completed')
  expect(output(logs)).toBe('none\n')
  expect(app.logs.find(line => line.message.includes('cannot be opened'))).toMatchObject({
    level: 'error',
    fields: { names: 'LOST' },
  })
  await rows(app, `delete from secrets where name = 'LOST'`)
})

test('a model that writes back a placeholder gets a warning, and the file keeps its value', async () => {
  const token = `ghp_${'c3D4'.repeat(9)}`
  const [write, edit] = [
    (content: string) => ({ name: 'write', arguments: { path: 'fixture.txt', content } }),
    (old: string, next: string) => ({ name: 'edit', arguments: { path: 'fixture.txt', old, new: next } }),
  ]
  const { logs } = await run([
    write(`a ${token}\nb\n`),
    { name: 'read', arguments: { path: 'fixture.txt' } },
    write('a [redacted:github_token]\nc\n'),
    edit('b', '[redacted:github_token]'),
    edit('b', 'c'),
    write('[redacted:something_else]'),
    shell(`git show HEAD:fixture.txt 2>/dev/null; ls`),
  ])
  const outputs = logs
    .filter(entry => ['write', 'edit', 'read'].includes(entry.tool_name))
    .map(entry => entry.tool_output)
  expect(outputs.map(output => output.status)).toEqual(['ok', 'ok', 'error', 'error', 'ok', 'ok'])
  expect(outputs[1].content).toBe('a [redacted:github_token]\nb\n')
  expect(outputs[2].error).toContain('hidden from you')
})
