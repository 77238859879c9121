import { describe, expect, test } from 'vitest'
import { toolSpecs } from '../../src/agent/tool.ts'
import { tools } from '../../src/agent/tools/table.ts'
import { ANTHROPIC, COMPATIBLE, OPENAI, request } from './protocols.ts'
import { forbidOutput } from './silence.ts'

forbidOutput()

describe.each([COMPATIBLE, OPENAI, ANTHROPIC])(
  '$name, a response that the output limit ends in a call',
  protocol => {
    const responseTo = async (texts: string[]) => {
      const tool_calls = texts.map(text => ({ name: 'write', arguments: text }))
      await using fake = await protocol.connect(() => ({ tool_calls, finish: 'length' }))
      return await fake.model.call(request())
    }

    test.each(['', '{"path": "a.txt", "content": "abc'])(
      'after %j: the call has no arguments, so it cannot run',
      async text => {
        const response = await responseTo(['{"path":"b.txt"}', text])
        expect(response).toMatchObject({
          finish_reason: 'length',
          tool_calls: [
            { input: { path: 'b.txt' } },
            { name: 'write', input: null, invalid: expect.any(String) },
          ],
        })
        expect(JSON.stringify(response.messages)).not.toContain('abc')
      },
    )

    test('after closed arguments: the call is whole', async () => {
      expect((await responseTo(['{"path":"b.txt"}'])).tool_calls).toMatchObject([
        { input: { path: 'b.txt' } },
      ])
    })
  },
)

describe.each(['completed', 'incomplete', undefined])(
  'a free-form call of GPT with the status %s',
  status => {
    const PATCH = '*** Begin Patch\n*** Add File: ä.ts\n+"x"'
    const responseOf = async (finish: 'length' | 'tool_calls') => {
      const call = { id: 'call_p', name: 'apply_patch', arguments: PATCH, custom: true as const }
      const raw = OPENAI.events({ text: 'Now:', tool_calls: [call], finish }).map(event =>
        event.startsWith('event: response.output_item.done') && event.includes('custom_tool_call')
          ? event.replace(',"status":"completed"', status === undefined ? '' : `,"status":"${status}"`)
          : event,
      )
      const bytes = [...Buffer.from(raw.join(''))].map(byte => Uint8Array.of(byte))
      await using fake = await OPENAI.connect(() => ({ raw: bytes }))
      return await fake.model.call(request({ tools: toolSpecs(tools, 'apply_patch') }))
    }

    test('is a call when the response is complete', async () => {
      expect(await responseOf('tool_calls')).toMatchObject({
        text: 'Now:',
        finish_reason: 'tool_calls',
        tool_calls: [{ id: 'call_p', name: 'apply_patch', input: { patch: PATCH } }],
      })
    })

    test('is cut off when the output limit ended the response', async () => {
      expect(await responseOf('length')).toMatchObject({
        text: 'Now:',
        finish_reason: 'length',
        tool_calls: [{ id: 'call_p', name: 'apply_patch', input: null, invalid: expect.any(String) }],
      })
    })
  },
)
