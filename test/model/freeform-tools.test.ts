import { describe, expect, test } from 'vitest'
import { toolSpecs } from '../../src/agent/tool.ts'
import { tools } from '../../src/agent/tools/table.ts'
import type { ModelMessage } from '../../src/model/port.ts'
import type { SeenRequest } from './fake-server.ts'
import { ANTHROPIC, COMPATIBLE, GOOGLE, goOn, OPENAI, prompt, request } from './protocols.ts'

const PATCH = '*** Begin Patch\n*** Update File: a.ts\n@@\n-"old"\\n\n+"new"\\n\n*** End Patch\n'
// biome-ignore lint/suspicious/noExplicitAny: each provider has tools in its own format
type Tools = any
const names = (body: Tools) =>
  (body.tools[0].functionDeclarations ?? body.tools).map((tool: Tools) => tool.name ?? tool.function.name)

const inputOf = (seen: SeenRequest | undefined) => (seen?.body.input ?? []) as object[]

describe('a GPT model over the Responses API', () => {
  test('gets apply_patch as a free-form tool with its grammar instead of edit and write', async () => {
    await using fake = await OPENAI.connect(() => ({ text: 'ok' }))
    await fake.model.call(request({ tools: toolSpecs(tools, fake.model.tool_family) }))
    const { body } = fake.server.requests[0] ?? {}
    expect(names(body)).toEqual([
      'shell',
      'read',
      'apply_patch',
      'search',
      'web_fetch',
      'plan',
      'ask',
      'start_run',
      'get_run',
      'finish',
    ])
    expect((body as { tools: object[] }).tools[2]).toEqual({
      type: 'custom',
      name: 'apply_patch',
      description: expect.stringContaining('free-form'),
      format: {
        type: 'grammar',
        syntax: 'lark',
        definition: expect.stringMatching(/^start: "\*\*\* Begin Patch" LF/),
      },
    })
  })

  test('sends the patch as it is, and gets it back the same bytes with its result', async () => {
    const call = { id: 'call_p', name: 'apply_patch', arguments: PATCH, custom: true as const }
    await using fake = await OPENAI.connect((_seen, n) =>
      n === 0 ? { tool_calls: [call] } : { text: 'done' },
    )
    const specs = toolSpecs(tools, fake.model.tool_family)
    const response = await fake.model.call(request({ tools: specs }))
    expect(response.tool_calls).toEqual([{ id: 'call_p', name: 'apply_patch', input: { patch: PATCH } }])
    const messages = goOn([prompt('go')], response)
    await fake.model.call(request({ tools: specs, messages }))
    expect(inputOf(fake.server.requests[1]).slice(-2)).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_p', name: 'apply_patch', input: PATCH },
      { type: 'custom_tool_call_output', call_id: 'call_p', output: 'of: call_p' },
    ])
  })

  test('a patch that is not text is left as it is', async () => {
    await using fake = await OPENAI.connect(() => ({ text: 'ok' }))
    const messages: ModelMessage[] = [
      prompt('go'),
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'apply_patch', input: {} }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c',
            toolName: 'apply_patch',
            output: { type: 'text', value: 'x' },
          },
        ],
      },
    ]
    await fake.model.call(request({ tools: toolSpecs(tools, 'apply_patch'), messages }))
    expect(inputOf(fake.server.requests[0]).at(-2)).toMatchObject({ type: 'custom_tool_call', input: '{}' })
  })
})

test.each([COMPATIBLE, ANTHROPIC, GOOGLE])('$name: another model gets edit and write', async protocol => {
  await using fake = await protocol.connect(() => ({ text: 'ok' }))
  await fake.model.call(request({ tools: toolSpecs(tools, fake.model.tool_family) }))
  expect(names(fake.server.requests[0]?.body)).toEqual(
    expect.arrayContaining([
      'shell',
      'read',
      'write',
      'edit',
      'search',
      'plan',
      'ask',
      'start_run',
      'get_run',
      'finish',
    ]),
  )
  expect(names(fake.server.requests[0]?.body)).not.toContain('apply_patch')
})

test.each([COMPATIBLE, ANTHROPIC, GOOGLE])(
  '$name: without free-form tools the patch is a field of JSON',
  async protocol => {
    const call = { id: 'call_p', name: 'apply_patch', arguments: { patch: PATCH } }
    await using fake = await protocol.connect((_seen, n) =>
      n === 0 ? { tool_calls: [call] } : { text: 'done' },
    )
    const specs = toolSpecs(tools, 'apply_patch')
    const response = await fake.model.call(request({ tools: specs }))
    expect(response.tool_calls).toMatchObject([{ name: 'apply_patch', input: { patch: PATCH } }])
    await fake.model.call(request({ tools: specs, messages: goOn([prompt('go')], response) }))
    const sent = JSON.stringify(fake.server.requests[1]?.body)
    expect(names(fake.server.requests[1]?.body)).toContain('apply_patch')
    expect(sent).not.toContain('custom')
    expect(sent).not.toContain('free-form')
    expect(sent).not.toContain('not JSON')
  },
)
