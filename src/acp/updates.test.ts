import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AgentUpdates } from './updates.ts'

it('merges the updates of a tool call into one, and reports when it starts and when it has finished', () => {
  const updates = new AgentUpdates(() => false)
  const call = { toolCallId: 'c1', title: 'bash', kind: 'execute' }
  expect(
    updates.read({ sessionUpdate: 'tool_call', ...call, status: 'pending', rawInput: {} }, 1),
  ).toMatchObject({ kind: 'tool_started' })
  const running = {
    sessionUpdate: 'tool_call_update',
    toolCallId: 'c1',
    status: 'in_progress',
    title: 'ls',
    rawInput: { command: 'ls' },
  }
  expect(updates.read(running, 2)).toMatchObject({
    kind: 'tool_started',
    call: { name: 'bash', title: 'ls', input: { command: 'ls' } },
  })
  const output = [{ type: 'content', content: { type: 'text', text: 'a.txt' } }]
  expect(updates.read({ ...running, content: output }, 3)).toBeNull()
  expect(
    updates.read({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' }, 4),
  ).toEqual({
    kind: 'tool_finished',
    failed: false,
    call: {
      id: 'c1',
      name: 'bash',
      title: 'ls',
      kind: 'execute',
      input: { command: 'ls' },
      output: { output: 'a.txt' },
      started_at: 1,
      request: { title: 'ls', kind: 'execute', rawInput: { command: 'ls' }, content: output },
    },
  })
  expect(updates.takeOpen()).toEqual([])
})

it('names a tool by what the agent calls it, else by its kind', () => {
  const name = (update: object) => {
    const event = new AgentUpdates(() => false).read(
      { sessionUpdate: 'tool_call', toolCallId: 'c', status: 'pending', ...update },
      0,
    )
    return event?.kind === 'tool_started' ? event.call.name : null
  }
  expect(name({ title: '`ls -la`', kind: 'execute' })).toBe('execute')
  expect(name({ title: 'Read a file', kind: 'read', _meta: { claudeCode: { toolName: 'Read' } } })).toBe(
    'Read',
  )
  expect(name({ title: 'grep', kind: 'search' })).toBe('grep')
  expect(name({})).toBe('other')
})

it('gives another name to a tool that is named like one that the service calls', () => {
  const updates = new AgentUpdates(name => name.startsWith('tickets__'))
  const call = { sessionUpdate: 'tool_call', status: 'completed', toolCallId: 'c' }
  const name = (update: object, id: string) => {
    const event = updates.read({ ...call, ...update, toolCallId: id }, 0)
    return event?.kind === 'tool_finished' ? event.call.name : null
  }
  expect(name({ title: 'tickets__search' }, 'a')).toBe('agent_tickets__search')
  expect(name({ name: 'tickets__search', title: 'x' }, 'b')).toBe('agent_tickets__search')
  expect(name({}, 'tickets__search__tickets__search_1')).toBe('agent_tickets__search')
  expect(name({ _meta: { claudeCode: { toolName: 'mcp__tickets__search' } } }, 'd')).toBe(
    'mcp__tickets__search',
  )
  expect(name({ title: 'mcp_connections' }, 'e')).toBe('agent_mcp_connections')
})

it.each([
  'git_push ',
  '\u001b[31mgit_push',
  'git_\u200bpush',
  '\u202egit_push',
  'GIT_PUSH',
  'git push',
  'git-push',
  'gitPush',
  'g i t push',
  'git.push',
  'ｇｉｔ_ｐｕｓｈ',
  'git_push\u0000',
  'git_push\n',
  'finish\t',
])('gives %j, which reads like a tool of the service, another name of visible characters', name => {
  const event = new AgentUpdates(() => false).read({ sessionUpdate: 'tool_call', toolCallId: 'a', name }, 0)
  const shown = event?.kind === 'tool_started' ? event.call.name : ''
  expect(shown).toMatch(/^agent_[\w. -]+$/)
})

it('shows no name that is made of other characters', () => {
  const event = new AgentUpdates(() => false).read(
    { sessionUpdate: 'tool_call', toolCallId: 'a', name: 'ɡіt', kind: 'execute' },
    0,
  )
  expect(event).toMatchObject({ call: { name: 't' } })
})

it('names a tool by the name of the update before its title, and by the id of Gemini CLI', () => {
  const name = (update: object) => {
    const event = new AgentUpdates(() => false).read(
      { sessionUpdate: 'tool_call', status: 'pending', toolCallId: 'c', ...update },
      0,
    )
    return event?.kind === 'tool_started' ? event.call.name : null
  }
  expect(name({ title: 'ls', kind: 'execute', name: 'exec_command' })).toBe('exec_command')
  expect(
    name({
      title: 'ls',
      kind: 'execute',
      toolCallId: 'run_shell_command__run_shell_command_1795549725719_0',
    }),
  ).toBe('run_shell_command')
})

it('merges the pieces of the output of a command, its exit code, and the texts of changed files by the id of the call', () => {
  const updates = new AgentUpdates(() => false)
  const update = (more: object) =>
    updates.read({ sessionUpdate: 'tool_call_update', toolCallId: 'c', ...more }, 0)
  const piece = (data: string) => ({ _meta: { terminal_output_delta: { data, terminal_id: 'c' } } })
  update({ kind: 'execute', title: 'make', content: [{ type: 'terminal', terminalId: 'c' }] })
  update(piece('one\n'))
  update(piece('two\n'))
  update({ content: [{ type: 'diff', path: '/workspace/a', oldText: null, newText: 'x\n' }] })
  const end = update({ status: 'failed', _meta: { terminal_exit: { exit_code: 2 } } })
  expect(end).toMatchObject({
    kind: 'tool_finished',
    failed: true,
    call: {
      kind: 'execute',
      output: {
        output: 'one\ntwo\n',
        exit_code: 2,
        changed: [{ path: '/workspace/a', old: '', new: 'x\n' }],
      },
    },
  })
})

it('keeps the calls that are open until they are taken', () => {
  const updates = new AgentUpdates(() => false)
  updates.read({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'bash', status: 'in_progress' }, 0)
  expect(updates.takeOpen()).toMatchObject([{ id: 'c1' }])
  expect(updates.takeOpen()).toEqual([])
  // The command of a prompt that was cancelled ends during the next one.
  expect(
    updates.read({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'failed' }, 2),
  ).toBeNull()
})

it('ignores later updates of a finished call, and gives names of this service to no call of an agent', () => {
  const updates = new AgentUpdates(() => false)
  const done = { sessionUpdate: 'tool_call_update', toolCallId: 'c1', title: 'finish', status: 'completed' }
  expect(updates.read(done, 0)).toMatchObject({ kind: 'tool_finished', call: { name: 'agent_finish' } })
  expect(updates.read(done, 1)).toBeNull()
  expect(updates.read({ ...done, status: 'in_progress' }, 2)).toBeNull()
  expect(updates.takeOpen()).toEqual([])
})

it('reads a plan with the states of the trace', () => {
  const entries = [
    { content: 'Look', status: 'completed', priority: 'high' },
    { content: 'Fix', status: 'in_progress' },
    { content: 'Test', status: 'pending' },
    { content: 7, status: 'constructor' },
  ]
  expect(new AgentUpdates(() => false).read({ sessionUpdate: 'plan', entries }, 0)).toEqual({
    kind: 'plan',
    items: [
      { id: 1, text: 'Look', state: 'done' },
      { id: 2, text: 'Fix', state: 'in_progress' },
      { id: 3, text: 'Test', state: 'pending' },
      { id: 4, text: '', state: 'pending' },
    ],
  })
})

it('ignores unknown updates, and survives any value in any field', () => {
  const updates = new AgentUpdates(() => false)
  expect(updates.read({ sessionUpdate: 'available_commands_update', availableCommands: [] }, 0)).toBeNull()
  const kinds = fc.constantFrom(
    'tool_call',
    'tool_call_update',
    'plan',
    'agent_message_chunk',
    'agent_thought_chunk',
    'other',
  )
  const fields = [
    'toolCallId',
    'title',
    'kind',
    'status',
    'rawInput',
    'rawOutput',
    'content',
    'entries',
    '_meta',
  ]
  const update = fc.record({
    sessionUpdate: kinds,
    ...Object.fromEntries(fields.map(name => [name, fc.jsonValue()])),
  })
  fc.assert(fc.property(update, received => void updates.read(received, 0)))
})
