import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LogEntry } from '../../src/contract/runs/logs.ts'
import { allLogs, awaitEnd, createRun, followRun } from '../runs/await-run.ts'
import { type CodingApp, calls, responses, shell, startCodingApp } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'
import { formsIn } from './forms.ts'

const word = () => randomBytes(12).toString('base64url').replace(/[-_]/g, 'x')
/**
 * For the agent: with every character that some form writes otherwise, and one of letters and digits alone.
 * Not for it: HIDDEN.
 */
const ODD = `odd/${word()}+"q\\${word()}" &=%é`
const PLAIN = `plain${word()}`
const HIDDEN = `hidden${word()}`
const secrets = { ODD_KEY: ODD, PLAIN_KEY: PLAIN, HIDDEN_KEY: HIDDEN }

let app: CodingApp
// biome-ignore lint/suspicious/noExplicitAny: responses are read without types
let run: any, logs: any[], frames: string

const commands = [
  'printf "%s\\n" "raw: $ODD_KEY $PLAIN_KEY"',
  'for s in "$ODD_KEY" "$PLAIN_KEY"; do for b in "" x xx; do printf "%s" "$b$s" | base64; printf "%s" "$b$s" | base64 -w 10; done; printf %s "$s" | od -An -v -tx1 | tr -d " \\n"; echo; done',
  `node -p 'const e = process.env; [e.ODD_KEY, e.PLAIN_KEY].flatMap(s => [encodeURIComponent(s), JSON.stringify(s), JSON.stringify(JSON.stringify({ s })), escape(s)]).join("\\n")'`,
  // Long enough apart that both halves are live output of their own.
  'for s in "$PLAIN_KEY" "$ODD_KEY"; do printf %s "start "; printf %s "$s" | head -c 11; sleep 0.4; printf %s "$s" | tail -c +12; echo " end"; sleep 0.2; done',
  'touch "file-$PLAIN_KEY.txt" && mkdir -p "d-$PLAIN_KEY" && ls; rm -r ./*-"$PLAIN_KEY"*',
  '"./$PLAIN_KEY"; cat "/nothing/$ODD_KEY"; exit 3',
  'env | base64 | head -c 20000; env; for p in /proc/[0-9]*; do tr "\\0" "\\n" <$p/environ; tr "\\0" " " <$p/cmdline; done 2>/dev/null; grep . /etc/gitconfig',
  // More than is kept, so that there is a cut in the middle of it all.
  'yes "$PLAIN_KEY" | head -n 200000',
]

beforeAll(async () => {
  app = await startCodingApp(
    responses(
      ...commands.map((command, n) => ({
        reasoning: `Now ${n}: ${PLAIN}`,
        text: `I print ${ODD}`,
        ...calls(shell(command)),
      })),
      calls(
        { name: 'write', arguments: { path: 'kept.txt', content: `a token: ${PLAIN}\n` } },
        { name: 'read', arguments: { path: 'kept.txt' } },
        { name: 'search', arguments: { pattern: PLAIN } },
        { name: 'edit', arguments: { path: 'kept.txt', old: `a token: ${PLAIN}`, new: 'no token' } },
        { name: 'read', arguments: { path: `missing-${PLAIN}` } },
        { name: `tool-${PLAIN}`, arguments: { [PLAIN]: ODD } },
        { name: 'plan', arguments: { items: [{ text: `use ${PLAIN}`, state: 'done' }] } },
      ),
      calls({
        name: 'finish',
        arguments: { answer: `Done with ${PLAIN} and ${Buffer.from(ODD).toString('base64')}.` },
      }),
    ),
  )
  for (const [name, value] of Object.entries(secrets))
    await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/${name}`, {
      value,
      for_agent: name !== 'HIDDEN_KEY',
    })
  const prompt = `Deploy with ${PLAIN}. Never tell ${HIDDEN}.`
  const created = await createRun(app, {
    prompt,
    tags: [PLAIN.slice(0, 50)],
    metadata: { key: ODD, [HIDDEN]: 1 },
  })
  frames = ''
  for await (const frame of followRun(app, created.id)) {
    frames += `${JSON.stringify(frame)}\n${typeof frame.data === 'string' ? frame.data : Object.values(frame.data).join('\n')}\n`
    if (frame.event === 'run' && frame.data.terminal) break
  }
  run = await awaitEnd(app, created.id)
  logs = await allLogs(app, created.id)
}, 60_000)
afterAll(() => app[Symbol.asyncDispose]())

/** Which form of which secret occurs where. */
const found = (where: string, text: string) =>
  Object.entries(secrets).flatMap(([name, value]) =>
    formsIn(text, value).map(form => `${where}: ${form} of ${name}`),
  )

test('the run completes, and its commands had the values', () => {
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({ status: 'completed' })
  for (const entry of logs) LogEntry.strict().parse(entry)
  const file = logs.find(entry => entry.tool_name === 'edit')
  expect(file.tool_output).toMatchObject({ status: 'ok', replaced: 1 })
})

test('F127 no page of the trace, no run object and no list holds a value in any form', async () => {
  expect(found('logs', JSON.stringify(logs))).toEqual([])
  for (const entry of logs)
    for (const text of [
      entry.thought,
      entry.tool_output?.output,
      entry.observation,
      entry.tool_output?.content,
    ])
      if (typeof text === 'string') expect(found(`entry ${entry.seq}`, text)).toEqual([])
  expect(found('run', JSON.stringify(run))).toEqual([])
  const list = await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)
  expect(found('list', JSON.stringify(list.body))).toEqual([])
})

test('live output contains none, also when a value arrives in two pieces', () => {
  expect(frames).toContain('"event":"output"')
  expect(frames).toContain('start [redacted:PLAIN_KEY] end')
  expect(found('frames', frames)).toEqual([])
  for (const value of [ODD, PLAIN]) expect(frames).not.toContain(`start ${value.slice(0, 3)}`)
})

test('later requests to the model contain none', () => {
  const requests = app.model.requests.map(request => JSON.stringify(request.body)).join('\n')
  expect(requests).toContain('[redacted:ODD_KEY]')
  expect(found('requests', requests)).toEqual([])
  expect(requests).toContain('PLAIN_KEY')
})

test('the whole outputs that are kept beside the trace hold none', async () => {
  const kept = logs.filter(entry => entry.artifact_url !== null)
  expect(kept.length).toBeGreaterThan(0)
  for (const { artifact_url } of kept) {
    const response = await fetch(artifact_url, { headers: { authorization: `Bearer ${app.token}` } })
    expect(response.status).toBe(200)
    expect(found('artifact', await response.text())).toEqual([])
  }
})

test('no column of the database holds one', async () => {
  const tables = await rows<{ name: string }>(
    app,
    `select tablename as name from pg_tables where schemaname = 'public'`,
  )
  for (const { name } of tables) {
    const all = await rows<{ row: string }>(app, `select t::text as row from ${name} t`)
    for (const { row } of all) {
      expect(found(name, row)).toEqual([])
      expect(
        found(
          `${name}, as hexadecimal`,
          Buffer.from(row.replace(/[^0-9a-f]/g, ''), 'hex').toString('latin1'),
        ),
      ).toEqual([])
    }
  }
})

test('no file of the data folder and no line of the log holds one', () => {
  expect(found('log', JSON.stringify(app.logs))).toEqual([])
  const files = readdirSync(app.data_dir, { recursive: true, withFileTypes: true }).filter(entry =>
    entry.isFile(),
  )
  // The workspace is the agent's own.
  for (const { parentPath, name } of files.filter(
    file => !file.parentPath.startsWith(join(app.data_dir, 'workspaces')),
  ))
    expect(found(name, readFileSync(join(parentPath, name), 'latin1'))).toEqual([])
})

test('an entry counts what was taken out of it, by name', () => {
  const raw = logs.find(entry => entry.tool_input?.command === commands[0])
  expect(raw.tool_output.output).toBe('raw: [redacted:ODD_KEY] [redacted:PLAIN_KEY]\n')
  expect(raw.redactions).toEqual({ ODD_KEY: 1, PLAIN_KEY: 2 })
  expect(logs.find(entry => entry.tool_name === 'git_clone')).not.toHaveProperty('redactions')
})

test('a secret that is not for agents is in no process of the sandbox, and the trace lists which names were given', () => {
  const env = logs.find(entry => entry.tool_input?.command === commands[6])
  expect(env.tool_output.output).toContain('PLAIN_KEY=[redacted:PLAIN_KEY]')
  expect(JSON.stringify(env)).not.toContain('HIDDEN_KEY')
  const given = logs.find(entry => entry.tool_name === 'sandbox_secrets')
  expect(given.tool_output).toEqual({ status: 'ok', names: ['ODD_KEY', 'PLAIN_KEY'] })
})
