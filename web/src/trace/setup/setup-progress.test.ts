import { expect, test } from 'vitest'
import type { RunEvent } from '../../../../src/client/sdk/follow.ts'
import type { LogEntry } from '../../../../src/contract/runs/logs.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { afterEvent, lineOf, no_progress, reusedFrom } from './setup-progress.ts'

const log = (seq: number, tool_name: string, tool_input: object, tool_output: object): RunEvent => ({
  type: 'log',
  seq,
  entry: { seq, tool_name, tool_input, tool_output, message_type: 'ACTION' } as unknown as LogEntry,
})
const started = (command: string): RunEvent => ({
  type: 'tool',
  data: { call_id: 'setup-1', tool_name: 'setup_command', tool_input: { command } },
})
const output = (text: string): RunEvent => ({ type: 'output', data: { call_id: 'setup-1', text } })
const run = (terminal: boolean): RunEvent => ({ type: 'run', run: { terminal } as AgentRun })
const after = (...events: RunEvent[]) => events.reduce(afterEvent, no_progress)

test('a running command shows its output until its entry is there', () => {
  const begun = [started('npm ci'), output('added '), output('3 packages')]
  expect(after(...begun).running).toMatchObject({ command: 'npm ci', output: 'added 3 packages' })
  const ended = after(...begun, log(4, 'setup_command', { command: 'npm ci' }, { status: 'ok' }))
  expect(ended.running).toBeNull()
  expect(ended.entries.map(lineOf)).toEqual(['npm ci'])
})

test('what an output contains so far replaces what is shown of it, also of a command that began before the stream', () => {
  const so_far = (text: string): RunEvent => ({
    type: 'so_far',
    data: { parts: [{ event: 'output', call_id: 'setup-1', text }] },
  })
  expect(after(so_far('added 3')).running).toEqual({ call_id: 'setup-1', command: null, output: 'added 3' })
  const begun = [started('npm ci'), output('added '), output('3')]
  expect(after(...begun, so_far('ed 3'), output(' packages')).running).toMatchObject({
    command: 'npm ci',
    output: 'added 3 packages',
  })
  expect(after(started('npm ci'), output('3'), so_far('added 3')).running).toMatchObject({
    command: 'npm ci',
    output: 'added 3',
  })
  const ended = after(...begun, log(4, 'setup_command', { command: 'npm ci' }, { status: 'ok' }))
  expect(afterEvent(ended, so_far('added 3'))).toEqual(ended)
})

test('output that arrives after the entry of its command starts nothing', () => {
  const ended = after(started('npm ci'), log(4, 'setup_command', { command: 'npm ci' }, { status: 'ok' }))
  expect(afterEvent(ended, output('the rest'))).toEqual(ended)
})

test('output of a command that began before the stream was opened is shown', () => {
  expect(after(output('halfway')).running).toMatchObject({ command: null, output: 'halfway' })
})

test('entries of the agent and tools of the agent are not part of the setup', () => {
  const progress = after(log(1, 'git_clone', {}, {}), {
    type: 'tool',
    data: { tool_name: 'shell', tool_input: { command: 'ls' } },
  })
  expect(progress).toEqual(no_progress)
})

test('nothing is running once the run has ended', () => {
  expect(after(run(false), started('sleep 1'), run(true)).running).toBeNull()
})

test('an environment is the reason why no command ran only if an earlier run made it', () => {
  const { entries } = after(log(1, 'environment', {}, { status: 'ok', made: false, made_by_run: 12 }))
  expect([reusedFrom(entries), entries.map(lineOf)]).toEqual([12, ['Reused the environment of run #12']])
  expect(
    reusedFrom(after(log(1, 'environment', {}, { made: true, kept: true, made_by_run: 13 })).entries),
  ).toBeNull()
})
