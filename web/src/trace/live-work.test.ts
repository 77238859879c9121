import { expect, test } from 'vitest'
import type { LogEntry } from '../../../src/contract/runs/logs.ts'
import { afterDisconnect, afterEntry, afterEvent, afterReconnect, nothing_live } from './live-work.ts'

const entry = (fields: Partial<LogEntry>) =>
  ({ message_type: 'ACTION', tool_name: null, ...fields }) as LogEntry
const tool = {
  call_id: 'c1',
  tool_name: 'shell',
  tool_input: { command: 'ls' },
  started_at: '2026-11-20T10:00:00.000Z',
}

test('a running tool gathers its output until its entry is written', () => {
  let work = afterEvent(nothing_live, 'tool', tool)
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'a' })
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'b' })
  expect(work.tools).toEqual([{ ...tool, output: 'ab' }])
  expect(afterEntry(work, entry({ tool_name: 'shell' })).tools).toEqual([])
})

test('an entry ends the first tool of its name only', () => {
  let work = afterEvent(nothing_live, 'tool', tool)
  work = afterEvent(work, 'tool', { ...tool, call_id: 'c2' })
  work = afterEvent(work, 'tool', { ...tool, call_id: 'c3', tool_name: 'read' })
  expect(afterEntry(work, entry({ tool_name: 'shell' })).tools.map(({ call_id }) => call_id)).toEqual([
    'c2',
    'c3',
  ])
})

test('the model’s text is superseded by what it did, but not by a message of a person or the clone that runs beside it', () => {
  let work = afterEvent(nothing_live, 'text', { kind: 'reasoning', text: 'Hm. ' })
  work = afterEvent(work, 'text', { kind: 'text', text: 'I will ' })
  work = afterEvent(work, 'text', { kind: 'text', text: 'look.' })
  expect(work).toMatchObject({ reasoning: 'Hm. ', text: 'I will look.' })
  expect(afterEntry(work, entry({ message_type: 'USER_MESSAGE' }))).toEqual(work)
  expect(afterEntry(work, entry({ tool_name: 'git_clone' }))).toEqual(work)
  expect(afterEntry(work, entry({ tool_name: 'shell' }))).toEqual({
    ...nothing_live,
    early: { call_id: '', output: '' },
  })
})

test('the entry of a command of the service ends its card, and keeps what the model generates meanwhile', () => {
  const command = { ...tool, call_id: 'setup-1', tool_name: 'setup_command' }
  let work = afterEvent(nothing_live, 'tool', command)
  work = afterEvent(work, 'text', { kind: 'text', text: 'Next, ' })
  work = afterEntry(work, entry({ tool_name: 'setup_command' }))
  expect(work).toMatchObject({ tools: [], text: 'Next, ' })
})

test('output that arrives after the entry of its call opens no card, until the call is announced again', () => {
  let work = afterEvent(nothing_live, 'tool', { ...tool, call_id: 'check-1-1', tool_name: 'check' })
  work = afterEntry(work, entry({ tool_name: 'check' }))
  work = afterEvent(work, 'output', { call_id: 'check-1-1', text: 'late' })
  expect(work.tools).toEqual([])
  work = afterEvent(work, 'tool', { ...tool, call_id: 'check-1-1', tool_name: 'check' })
  work = afterEvent(work, 'output', { call_id: 'check-1-1', text: 'new' })
  expect(work.tools).toMatchObject([{ call_id: 'check-1-1', output: 'new' }])
})

test('output of a command that was too short to be announced opens no card, before and after the next command is announced', () => {
  let work = afterEntry(nothing_live, entry({ tool_name: 'shell' }))
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'late' })
  expect(work.tools).toEqual([])
  expect(
    afterEvent(work, 'so_far', { parts: [{ event: 'output', call_id: 'c2', text: 'running' }] }).tools,
  ).toHaveLength(1)
  work = afterEvent(work, 'tool', { ...tool, call_id: 'c2' })
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'later' })
  work = afterEvent(work, 'output', { call_id: 'c2', text: 'new' })
  expect(work.tools).toMatchObject([{ call_id: 'c2', output: 'new' }])
})

test('output that arrives before the announcement of its command is not lost', () => {
  let work = afterEntry(nothing_live, entry({ tool_name: 'shell' }))
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'a' })
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'b' })
  work = afterEvent(work, 'tool', tool)
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'c' })
  expect(work.tools).toEqual([{ ...tool, output: 'abc' }])
})

test('the plan and the answer end their tools too', () => {
  const planning = afterEvent(nothing_live, 'tool', { ...tool, tool_name: 'plan' })
  expect(afterEntry(planning, entry({ message_type: 'PLAN_EVALUATION' })).tools).toEqual([])
  const finishing = afterEvent(nothing_live, 'tool', { ...tool, tool_name: 'finish' })
  expect(afterEntry(finishing, entry({ message_type: 'FINAL_ANSWER' }))).toEqual(nothing_live)
})

test('events of unknown kinds and shapes change nothing and break nothing', () => {
  expect(afterEvent(nothing_live, 'later', { a: 1 })).toEqual(nothing_live)
  expect(afterEvent(nothing_live, 'text', 'x')).toEqual(nothing_live)
  expect(() => afterEvent(nothing_live, 'output', null)).not.toThrow()
  expect(() => afterEvent(nothing_live, 'tool', [1])).not.toThrow()
})

test('output of a tool that started before the stream was opened is shown, until an entry ends it', () => {
  const work = afterEvent(nothing_live, 'output', { call_id: 'c9', text: 'late' })
  expect(work.tools).toMatchObject([{ call_id: 'c9', tool_name: '', output: 'late' }])
  expect(afterEntry(work, entry({ tool_name: 'shell' })).tools).toEqual([])
})

test('limits that are near stay until the run rests, each with its last values', () => {
  const near = (limit: string, used: number) => ({ limits: [{ limit, used, allowed: 10, level: 'near' }] })
  let work = afterEvent(nothing_live, 'notice', near('steps', 8))
  work = afterEvent(work, 'notice', near('steps', 9))
  work = afterEntry(work, entry({ tool_name: 'shell' }))
  work = afterEvent(work, 'notice', { limits: [null, { limit: 1 }] })
  expect(work.limits).toEqual([{ limit: 'steps', used: 9, allowed: 10 }])
  expect(afterEntry(work, entry({ message_type: 'FINAL_ANSWER' }))).toEqual(nothing_live)
})

test('endless output keeps its end', () => {
  let work = afterEvent(nothing_live, 'tool', tool)
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'x'.repeat(100_000) })
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'end' })
  expect(work.tools[0]?.output).toHaveLength(64_000)
  expect(work.tools[0]?.output.endsWith('end')).toBe(true)
})

test('what an output contains so far replaces its pieces, so that nothing is doubled', () => {
  const so_far = {
    parts: [
      { event: 'output', call_id: 'c1', text: 'ab' },
      { event: 'text', kind: 'text', text: 'I will' },
      null,
    ],
  }
  const joined = afterEvent(nothing_live, 'so_far', so_far)
  expect(joined).toMatchObject({ tools: [{ call_id: 'c1', output: 'ab' }], text: 'I will' })
  let work = afterEvent(nothing_live, 'tool', tool)
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'b' })
  work = afterEvent(work, 'so_far', so_far)
  expect(work.tools).toEqual([{ ...tool, output: 'ab' }])
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'c' })
  work = afterEvent(work, 'so_far', { parts: [{ event: 'output', call_id: 'c1', text: 'bc' }] })
  expect(work.tools).toEqual([{ ...tool, output: 'abc' }])
})

test('without a connection a running tool stays as it was seen, until it is announced again or its entry is written', () => {
  let work = afterEvent(nothing_live, 'tool', tool)
  work = afterEvent(work, 'output', { call_id: 'c1', text: 'a' })
  work = afterEvent(work, 'text', { kind: 'text', text: 'Hm' })
  const lost = afterDisconnect(work)
  expect(lost).toMatchObject({ tools: [{ ...tool, output: 'a', stale: true }], text: 'Hm' })
  const back = afterReconnect(lost)
  expect(back.text).toBe('')
  expect(afterEvent(back, 'tool', tool).tools).toEqual([{ ...tool, output: 'a' }])
  expect(
    afterEvent(back, 'so_far', { parts: [{ event: 'output', call_id: 'c1', text: 'xy' }] }).tools,
  ).toEqual([{ ...tool, output: 'xy' }])
  expect(afterEntry(back, entry({ tool_name: 'shell' })).tools).toEqual([])
})
