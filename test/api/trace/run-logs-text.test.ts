import { afterAll, beforeAll, expect, test } from 'vitest'
import { entryTail } from '../../../src/core/runs/trace/stored-entry.ts'
import { append } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { readFrames } from './read-frames.ts'

/** Outputs of tools and models: text that databases and decoders tend to change. */
const hard: Record<string, string> = {
  NUL: 'a\0b',
  'half a surrogate pair': 'a\ud800b\udfff',
  emoji: '😀👩‍👩‍👧‍👦🇪🇺',
  'controls and colours': '\u0001\u0007\u001b[31mred\u001b[0m\u001b]8;;http://x\u0007',
  'line separators': 'a\u2028b\u2029c\r\nd\n\ne\r',
  'direction marks': '\u202etxt.exe\u200f\ufeff\ufffe\uffff',
  'combining letters, not composed': 'e\u0301 é ﬁ',
  markup: '<img src=x onerror=alert(1)> </script> & "quotes" \\ back',
  'something like a frame': 'x\n\nevent: log\nid: 999\ndata: {}\n\n',
  long: 'ü'.repeat(300_000),
}

const kept = Object.values(hard).map(text => text.toWellFormed())

let app: App
let id: number
let bodies: string[]
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  id = (await createRun(app, { prompt: 'x' })).id
  const entries = Object.entries(hard).map(([name, text]) =>
    entry({
      message_type: 'ACTION',
      tool_name: 'shell',
      tool_input: { [text.slice(0, 100)]: name },
      tool_output: { output: text },
      thought: text,
      observation: text,
    }),
  )
  await append(app.db, app.org_id, id, null, { entries })
  bodies = entries.map(entryTail)
})
afterAll(() => app[Symbol.asyncDispose]())

const path = () => `/v1/organizations/${app.org_id}/agent/run/${id}`

test('a page contains every entry as it was stored, character for character, and only Unicode', async () => {
  const response = await fetch(`${app.base_url}${path()}/logs?skip=1`, {
    headers: { authorization: `Bearer ${app.token}` },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  for (const body of bodies) expect(text).toContain(body)
  expect(text).not.toMatch(/\\ud[89a-f]/)
  const { logs } = JSON.parse(text)
  expect(logs.map((item: { thought: string }) => item.thought)).toEqual(kept)
  expect(logs.map((item: { tool_output: unknown }) => item.tool_output)).toEqual(
    kept.map(output => ({ output })),
  )
})

test('so does the stream, and no text of an entry breaks its frames', async () => {
  const frames = await readFrames(
    app,
    `${path()}/events?after_seq=1`,
    seen => seen.filter(frame => frame.event === 'log').length === bodies.length,
  )
  const entries = frames.filter(frame => frame.event === 'log')
  expect(entries.map(frame => JSON.parse(frame.data).thought)).toEqual(kept)
  expect(entries.map(frame => frame.id)).toEqual(bodies.map((_, i) => String(i + 2)))
  for (const [i, frame] of entries.entries()) expect(frame.data).toContain(bodies[i])
})

test('text is found by its content, escapes included', async () => {
  for (const [text, seq] of [
    ['a\u2028b', 6],
    ['"quotes" \\ back', 9],
    ['😀', 4],
    ['\u001b[31m', 5],
  ] as const) {
    const { body } = await app.call('GET', `${path()}/logs?q=${encodeURIComponent(text)}`)
    expect({ text, found: body.logs.map((item: { seq: number }) => item.seq) }).toEqual({
      text,
      found: [seq],
    })
  }
})
