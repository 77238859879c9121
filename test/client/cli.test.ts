import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { append } from '../../src/store/runs/append.ts'
import { entry } from '../../src/trace/entry.ts'
import { putRun } from '../api/runs/put-run.ts'
import { allLogs, awaitRun, createRun } from '../runs/await-run.ts'
import { type App, startApp } from '../start-app.ts'
import { startResponding } from './responding-server.ts'
import { type CliOptions, runCli, runOnTerminal, startCli } from './run-cli.ts'

let app: App
let signed_in: Record<string, string>
beforeAll(async () => {
  app = await startApp()
  signed_in = { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token }
})
afterAll(() => app[Symbol.asyncDispose]())

const cli = (args: string[], options: CliOptions = {}) =>
  runCli(args, { ...options, env: { ...signed_in, ...options.env } })
const playbook = (...steps: string[]) =>
  `Play.\n\`\`\`playbook\n${steps.map(step => `- ${step}\n`).join('')}\`\`\``
const path = (id: number, rest = '') => `/v1/organizations/${app.org_id}/agent/run/${id}${rest}`
const lines = (out: string) => out.trimEnd().split('\n')

describe('run', () => {
  test('prints which run was started and its address; as JSON it is the response of the API', async () => {
    const { code, out, err } = await cli([
      'run',
      'Do it',
      '--title',
      'A title',
      '--tag',
      'a',
      '--tag',
      'b',
      '--max-steps',
      '7',
      '--no-pr',
    ])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const id = Number(/^run (\d+) {2}queued {2}A title\n {2}http/.exec(out)?.[1])
    const { body } = await app.call('GET', path(id))
    expect(body).toMatchObject({
      prompt: 'Do it',
      title: 'A title',
      tags: ['a', 'b'],
      budget: { max_steps: 7 },
    })

    const json = await cli(['run', '-', '--json', '--repo', 'sample/invoice', '--base', 'main'], {
      input: 'From\na file\n',
    })
    expect(JSON.parse(json.out)).toMatchObject({
      status: 'queued',
      prompt: 'From\na file',
      repo_id: app.repo_id,
      base_ref: 'main',
    })
    expect(lines(json.out)).toHaveLength(1)
  })

  test('with --follow shows the trace, then the answer, and ends with 0', async () => {
    const { code, out, err } = await cli([
      'run',
      '--follow',
      playbook('thought: First a look.', 'run: echo seen', 'answer: All is well.'),
    ])
    expect(code).toBe(0)
    expect(err).toMatch(/^run \d+: http\S+\n$/)
    expect(out).toMatch(/^ {3}1 USER_MESSAGE +Play\. …$/m)
    expect(out).toMatch(/^ +First a look\.\n +\d+ ACTION +shell echo seen {2}exit 0/m)
    expect(lines(out).slice(-3)).toEqual([
      expect.stringMatching(/^run \d+ {2}completed {2}Play\.$/),
      '',
      'All is well.',
    ])
  })

  test('with --follow --json the entries of the API, one a line, and then the run', async () => {
    const { code, out } = await cli(['run', '-f', '--json', playbook('run: echo seen', 'answer: done')])
    expect(code).toBe(0)
    const documents = lines(out).map(line => JSON.parse(line))
    const run = documents.pop()
    expect(run).toEqual((await app.call('GET', path(run.id))).body)
    expect(run.status).toBe('completed')
    expect(documents).toEqual(await allLogs(app, run.id))
  })

  test('that fails ends with 1 and prints why', async () => {
    const { code, out } = await cli(['run', '--wait', playbook('run: exit 3', 'answer: no')])
    expect(code).toBe(1)
    expect(out).toMatch(/^run \d+ {2}failed \(agent_error\) {2}Play\.\n\nscript_failed: Playbook step 1/)
  })

  test('that waits for a person ends with 1 and prints how to reply; the next wait is for the answer, not the old question', async () => {
    const requested = await cli(['run', '--wait', playbook('ask: Which name?', 'answer: Named.')])
    expect(requested.code).toBe(1)
    const id = Number(/^run (\d+) {2}waiting \(user_input\)/.exec(requested.out)?.[1])
    expect(requested.err).toContain(`agentrun resume ${id} "your answer"`)
    const responded = await cli(['resume', String(id), '-', '--follow'], { input: 'Ada\n' })
    expect(responded.code).toBe(0)
    expect(responded.out).toMatch(/^ +\d+ USER_MESSAGE +Ada\n/)
    expect(responded.out).toMatch(/Named\.\n$/)
    expect(responded.out).not.toContain('Which name?')
  })

  test('can be forked at an entry, and the fork is followed from its beginning', async () => {
    const { out } = await cli(['run', '--wait', '--json', playbook('run: echo seen', 'answer: First.')])
    const { id } = JSON.parse(out)
    const forked = await cli(['fork', String(id), '2', playbook('answer: Second.'), '--follow'])
    expect(forked.code).toBe(0)
    expect(forked.out).toMatch(/^ {3}1 USER_MESSAGE +Play\./m)
    expect(forked.out).toMatch(/^ {3}2 AGENT_RUN_LINK/m)
    expect(forked.out).toMatch(/Second\.\n$/)
    expect((await cli(['related', String(id)])).out).toMatch(/ fork +/)
    expect((await cli(['fork', String(id), '999'])).err).toMatch(/from_seq/)
    expect((await cli(['fork', String(id), 'x'])).code).toBe(2)
  })

  test('with an unknown repository or model is refused with the available ones', async () => {
    expect(await cli(['run', 'x', '--repo', 'nobody/nothing'])).toMatchObject({
      code: 1,
      out: '',
      err: 'agentrun: no single repository matches nobody/nothing; there are 1 sample/invoice\n',
    })
    const refused = await cli(['run', 'x', '--model', 'nobody/nothing', '--json'])
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.out)).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(refused.err).toMatch(/^agentrun: .*nobody\/nothing/)
  })

  test('with the same key a second time is the first run', async () => {
    const ids = await Promise.all(
      [1, 2].map(
        async () => JSON.parse((await cli(['run', 'x', '--json', '--idempotency-key', 'once'])).out).id,
      ),
    )
    expect(ids[0]).toBe(ids[1])
  })
})

describe('--jq', () => {
  test('prints what jq selects from the JSON: texts as they are, documents on one line, entries as they come', async () => {
    const { id } = await createRun(app, {
      prompt: playbook('run: echo seen', 'answer: done'),
      title: 'Two "words"',
      tags: ['selected'],
    })
    await awaitRun(app, id, run => run.terminal)
    expect(await cli(['runs', '--tag', 'selected', '--jq', '.items[] | .title, {id}'])).toEqual({
      code: 0,
      out: `Two "words"\n{"id":${id}}\n`,
      err: '',
    })
    const types = (await allLogs(app, id)).map(entry => entry.message_type)
    expect(lines((await cli(['logs', '--follow', String(id), '--jq', '.message_type'])).out)).toEqual(types)
    expect((await cli(['show', String(id), '--jq', '-1'])).out).toBe('-1\n')
    const shown = (
      await runOnTerminal(['show', String(id), '--jq', '{id}, "a\\u001b[31mb"'], { env: signed_in })
    ).out
    expect(lines(shown.replaceAll('\r', ''))).toEqual(['{', `  "id": ${id}`, '}', 'ab'])
  })

  test('an invalid expression, and a missing jq, are reported before anything is sent', async () => {
    const { total } = (await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)).body
    const invalid = await cli(['run', 'x', '--jq', '.items['])
    expect(invalid).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^agentrun: --jq: syntax error/),
    })
    expect(await cli(['run', 'x', '--jq', '.id'], { env: { PATH: '/nonexistent' } })).toEqual({
      code: 1,
      out: '',
      err: 'agentrun: --jq needs the program jq, which is not installed: install it, or use --json\n',
    })
    expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)).body.total).toBe(total)
  })

  test('a document that jq cannot filter ends the command with 1; so does a refusal of the service', async () => {
    expect(await cli(['runs', '--jq', '.total.x'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^agentrun: --jq: .*index number/),
    })
    expect(await cli(['show', '424242', '--jq', '.id'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^agentrun: /),
    })
  })
})

describe('resources', () => {
  test('pause pauses a run and confirms it; a run that has ended is refused', async () => {
    const { id } = await createRun(app, { prompt: playbook('ask: Well?') })
    await awaitRun(app, id, run => run.status === 'waiting')
    expect(await cli(['pause', String(id)])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^run \d+ {2}paused \(user_request\)/),
    })
    await cli(['stop', String(id)])
    expect(await cli(['pause', String(id)])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/nothing to pause/),
    })
  })

  test('with --json is the document of the API, byte for byte', async () => {
    const { id } = await createRun(app, { prompt: 'x', tags: ['shown'] })
    await awaitRun(app, id, run => run.terminal)
    const raw = async (path: string) => {
      const response = await fetch(app.base_url + path, { headers: { authorization: `Bearer ${app.token}` } })
      return `${await response.text()}\n`
    }
    const base = `/v1/organizations/${app.org_id}`
    expect((await cli(['show', String(id), '--json'])).out).toBe(await raw(path(id)))
    expect((await cli(['--json', 'runs', '--tag', 'shown', '--limit', '5'])).out).toBe(
      await raw(`${base}/agent/runs?tag=shown&limit=5`),
    )
    expect((await cli(['repos', '--json'])).out).toBe(await raw(`${base}/repos`))
    expect((await cli(['open', String(id), '--json'])).out).toBe(await raw(path(id)))
    expect((await cli(['stop', String(id), '--json'])).out).toBe(await raw(path(id)))
    const entries = (await cli(['logs', String(id), '--json'])).out
    expect(lines(entries).map(line => JSON.parse(line))).toEqual(await allLogs(app, id))
  })

  test('is readable otherwise', async () => {
    const { id } = await createRun(app, {
      prompt: playbook('write: { path: NEW.md, content: "new\\n" }', 'answer: Written.'),
      title: 'Readable',
      tags: ['read'],
    })
    await awaitRun(app, id, run => run.terminal)
    expect((await cli(['runs', '--tag', 'read'])).out).toMatch(
      new RegExp(`^ID +STATUS +CREATED +TITLE\\n${id} +completed +\\d+ s ago +Readable\\n$`),
    )
    const shown = (await cli(['show', String(id)])).out
    expect(shown).toMatch(new RegExp(`^run ${id} {2}completed {2}Readable\n`))
    expect(shown).toMatch(/^ {2}pull request {2}#1 open: .*1 files, \+1 -0/m)
    expect(shown).toMatch(/^ {2}usage +0 tokens in, 0 out, \$0, /m)
    expect(shown).toMatch(/\n\nWritten\.\n/)
    expect((await cli(['repos'])).out).toMatch(/^ID +NAME +URL\n1 +sample\/invoice +default +\/.*\n$/)
    expect((await cli(['open', String(id)])).out).toBe(`${app.base_url}/agent/trace/${id}\n`)
    const trace = await cli(['logs', String(id), '--type', 'ACTION', '--tool', 'write', '--full'])
    expect(trace.out).toMatch(/^ +\d+ ACTION +write[^\n]*\n {5}input.path: NEW\.md\n {5}input.content: new\n/)
    expect((await cli(['runs', '--tag', 'nobody'])).err).toBe('no runs\n')
    const ended = async (...words: string[]) =>
      JSON.parse((await cli(['--json', 'runs', '--tag', 'read', ...words])).out).total
    expect(await ended('--status', 'completed', '--status', 'failed')).toBe(1)
    expect(await ended('--status', 'failed,completed')).toBe(1)
    expect(await ended('--tag', 'nobody', '--status', 'failed')).toBe(0)
    expect((await cli(['runs', '--status', 'completed,done'])).err).toContain('It must be one of ')
  })

  test('logs has all pages', async () => {
    await using idle = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
    const { id } = await createRun(idle, { prompt: 'x' })
    await append(idle.db, idle.org_id, id, null, {
      entries: Array.from({ length: 149 }, () => entry({ message_type: 'PLAN_EVALUATION', thought: 'x' })),
    })
    const { out } = await cli(['logs', String(id), '--url', idle.base_url, '--token', idle.token])
    expect(lines(out).map(line => Number(line.slice(0, 4)))).toEqual(
      Array.from({ length: 150 }, (_, n) => n + 1),
    )
    const after = await cli(['logs', String(id), '--url', idle.base_url, '--after-seq', '148', '--json'])
    expect(lines(after.out).map(line => JSON.parse(line).seq)).toEqual([149, 150])
    const commands = [2, 0].map(exit_code =>
      entry({ message_type: 'ACTION', tool_output: { status: 'ok', exit_code } }),
    )
    await append(idle.db, idle.org_id, id, null, { entries: commands })
    expect(
      JSON.parse((await cli(['logs', String(id), '--url', idle.base_url, '--failed', '--json'])).out).seq,
    ).toBe(151)
    expect(await cli(['logs', String(id), '--failed', '--follow'])).toMatchObject({ code: 2, out: '' })
  })
})

describe('following', () => {
  test('Ctrl-C ends with 130, prints that the run continues, and it does', async () => {
    const { id } = await createRun(app, { prompt: playbook('ask: Well?', 'answer: Well.') })
    await awaitRun(app, id, run => run.status === 'waiting')
    const child = await startCli(['logs', '-f', String(id)], { env: signed_in })
    const err = text(child.stderr)
    let out = ''
    for await (const piece of child.stdout) {
      out += piece
      if (out.includes('Well?')) child.kill('SIGINT')
    }
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
    expect(code).toBe(130)
    expect(await err).toBe(
      `run ${id} continues. To stop it: agentrun stop ${id}. To follow it again: agentrun logs -f ${id}\n`,
    )
    expect((await app.call('GET', path(id))).body.status).toBe('waiting')
  })

  test('continues with new entries until the run has ended', async () => {
    const { id } = await createRun(app, { prompt: playbook('ask: Well?', 'answer: Well.') })
    await awaitRun(app, id, run => run.status === 'waiting')
    const following = cli(['logs', '-f', String(id), '--json', '--type', 'FINAL_ANSWER'])
    await cli(['resume', String(id), 'Yes'])
    const { code, out, err } = await following
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ message_type: 'FINAL_ANSWER', observation: 'Well.' })
    expect(err).toBe(`run ${id}: completed\n`)
  })

  test('a reader that closes the pipe is not an error', async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    const child = await startCli(['logs', '-f', String(id)], { env: signed_in })
    child.stdout.once('data', () => child.stdout.destroy())
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
    expect(await text(child.stderr)).toBe('')
  })
})

describe('a terminal', () => {
  test('gets colour and progress, a pipe and NO_COLOR neither', async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    await awaitRun(app, id, run => run.terminal)
    const csi = '\u001b['
    const shown = await runOnTerminal(['logs', '-f', String(id)], { env: { ...signed_in, TERM: 'xterm' } })
    expect(shown.out).toContain(`${csi}36mUSER_MESSAGE`)
    expect(shown.out).toContain(`run ${id}: completed\r${csi}K`)
    const without = await runOnTerminal(['logs', '-f', String(id)], {
      env: { ...signed_in, TERM: 'xterm', NO_COLOR: '1' },
    })
    expect(without.out).toContain('USER_MESSAGE')
    expect(without.out).not.toContain(csi)
    const { out, err } = await cli(['logs', '-f', String(id)], { env: { FORCE_COLOR: '1', TERM: 'xterm' } })
    expect(out + err).not.toContain('\u001b')
  })

  test('is not steered by what an agent, a repository or a person wrote', async () => {
    const hostile =
      '\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u009b5n\u202egnitset\r\nnext\u001b]8;;http://evil\u001b\\link\u001b]8;;\u001b\\'
    await using idle = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
    const { id } = await createRun(idle, { prompt: hostile, title: hostile, tags: ['\u001b[2Jtag'] })
    await append(idle.db, idle.org_id, id, null, {
      entries: [
        entry({
          message_type: 'ACTION',
          thought: hostile,
          tool_name: hostile,
          tool_input: { command: hostile, [hostile]: 1 },
          tool_output: { status: hostile, output: hostile },
        }),
        entry({ message_type: 'FINAL_ANSWER', observation: hostile }),
      ],
    })
    await putRun(idle, id, 'failed')
    await idle.db.query({
      text: 'update runs set error_message = $2, result = $2 where id = $1',
      values: [id, hostile],
    })
    const env = { AGENTRUN_URL: idle.base_url, AGENTRUN_TOKEN: idle.token, TERM: 'xterm' }
    for (const args of [
      ['logs', String(id)],
      ['logs', String(id), '--full'],
      ['logs', '-f', String(id)],
      ['show', String(id)],
      ['runs'],
      ['stop', String(id)],
    ]) {
      const { out } = await runOnTerminal(args, { env })
      // What the command itself writes: styles, and the erasing of progress.
      const own = out.replace(/\u001b\[(?:\d{1,2}m|K)/g, '').replaceAll('\r', '')
      expect(own, args.join(' ')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
      expect(own).toContain('red')
      expect(out).not.toContain('\u001b[31mred')
    }
  })
})

test.each([
  [['repos', 'set', 'acme/web']],
  [['mcp-servers', 'set', 'tickets', '-', '--repo', 'acme/web']],
  [['environments', 'drop', 'acme/web', 'newest']],
  [['tokens', 'create', 'ci', '--repo', 'acme/web', '--expires-in', 'soon']],
  [['setup', 'set', 'acme/web', 'npm ci', '--timeout', 'long']],
  [['checks', 'set', 'acme/web', 'npm test']],
  [['run', 'Fix it.', '--repo', 'acme/web', '--max-steps', 'many']],
  [['settings', 'set', '--repo', 'acme/web', '--max-concurrent-runs', 'many']],
])('wrong usage is refused before the service is called: %j', async args => {
  const ended = await cli(args, { env: { AGENTRUN_URL: 'http://127.0.0.1:1' }, input: '[]' })
  expect(ended).toMatchObject({ code: 2, out: '' })
})

test('--json prints a response that lacks what its text needs', async () => {
  await using service = await startResponding({ body: { id: 7 } })
  const env = { AGENTRUN_URL: service.base_url, AGENTRUN_ORG: '1' }
  for (const command of ['show 7', 'pause 7', 'checks show 7'])
    expect((await cli([...command.split(' '), '--json'], { env })).out).toBe('{"id":7}\n')
})
