import { describe, expect, test } from 'vitest'
import { ModelError, type ModelMessage, type ModelRequest } from '../../../src/model/port.ts'
import { createScriptedModel } from '../../../src/model/scripted.ts'

const model = createScriptedModel()

const prompt = (text: string): ModelMessage => ({
  role: 'user',
  content: text,
  providerOptions: { agentrun: { prompt: true } },
})
const block = (yaml: string) => `Do it.\n\`\`\`playbook\n${yaml}\n\`\`\`\n`

function callModel(messages: ModelMessage[], more: Partial<ModelRequest> = {}) {
  const timeouts = { first_byte_ms: 1_000, idle_ms: 1_000, total_ms: 1_000 }
  return model.call({ instructions: '', messages, tools: [], max_output_tokens: 1_000, timeouts, ...more })
}

/**
 * Continues the conversation: `tool` returns the result of each call, until a response has no call.
 * Everything is JSON in between, as in the journal.
 */
async function playOn(
  messages: ModelMessage[],
  tool: (name: string, input: Record<string, unknown>) => Record<string, unknown>,
) {
  const calls: { name: string; input: unknown; thought: string | null }[] = []
  for (;;) {
    const response = await callModel(messages)
    messages.push(...response.messages)
    for (const call of response.tool_calls) {
      calls.push({ name: call.name, input: call.input, thought: response.reasoning })
      const value = tool(call.name, call.input ?? {})
      messages.push(
        ...JSON.parse(
          JSON.stringify([
            {
              role: 'tool',
              content: [
                {
                  type: 'tool-result',
                  toolCallId: call.id,
                  toolName: call.name,
                  output: { type: 'json', value },
                },
              ],
            },
          ]),
        ),
      )
    }
    if (response.tool_calls.length === 0) return { calls, response }
  }
}

const fine = (name: string) =>
  name === 'shell' ? { status: 'ok', exit_code: 0, output: '', truncated: false } : { status: 'ok' }

async function failure(promise: Promise<unknown>): Promise<ModelError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ModelError)) throw new Error(`expected a ModelError, got ${String(error)}`)
  return error
}

describe('a playbook', () => {
  test("is played step by step with the names and inputs of the agent's tools", async () => {
    const messages = [
      prompt(
        block(`- thought: first
- thought: look
- plan: [a, b]
- run: {run: npm test, timeout: 9}
- write: {path: a.txt, content: hi}
- edit: {path: a.txt, old: hi, new: ho}
- ask: sure?
- thought: that was it
- answer: done`),
      ),
    ]
    const { calls, response } = await playOn(messages, fine)
    expect(calls).toEqual([
      {
        name: 'plan',
        thought: 'first\nlook',
        input: {
          items: [
            { text: 'a', state: 'pending' },
            { text: 'b', state: 'pending' },
          ],
        },
      },
      { name: 'shell', thought: null, input: { command: 'npm test', timeout_seconds: 9 } },
      { name: 'write', thought: null, input: { path: 'a.txt', content: 'hi' } },
      { name: 'edit', thought: null, input: { path: 'a.txt', old: 'hi', new: 'ho' } },
      { name: 'ask', thought: null, input: { question: 'sure?' } },
    ])
    expect(response).toMatchObject({
      text: 'done',
      reasoning: 'that was it',
      finish_reason: 'stop',
      usage: { input_tokens: 0, output_tokens: 0, cost_usd: '0' },
    })
    const ids = messages
      .flatMap(message =>
        message.role === 'assistant' && typeof message.content !== 'string' ? message.content : [],
      )
      .flatMap(part => (part.type === 'tool-call' ? [part.toolCallId] : []))
    expect(new Set(ids).size).toBe(5)
  })

  test('without an answer ends with a sentence that declares it scripted and lists what ran', async () => {
    const { response } = await playOn(
      [prompt(block('- run: ls\n- run: pwd\n- edit: {path: a, old: b, new: c}'))],
      fine,
    )
    expect(response.text).toMatch(/Scripted run without a language model.*2 commands, 1 edit/)
  })

  test('sends its output to the live view too', async () => {
    const deltas: string[] = []
    await callModel([prompt(block('- thought: hm\n- answer: done'))], {
      on_delta: delta => deltas.push(`${delta.kind}: ${delta.text}`),
    })
    expect(deltas).toEqual(['reasoning: hm', 'text: done'])
  })

  test('treats an expected exit code as success', async () => {
    const { response } = await playOn(
      [prompt(block('- run: npm test\n  expect_exit: 1\n- answer: red as expected'))],
      () => ({
        status: 'error',
        exit_code: 1,
        output: 'x',
      }),
    )
    expect(response.text).toBe('red as expected')
  })

  test.each([
    [
      'another exit',
      { status: 'error', exit_code: 2, output: 'one\ntwo\n' },
      /step 2 \(line 4\): run "npm test" exited 2, expected 0\.\nLast output:\none\ntwo$/,
    ],
    ['an exit of 0 that was not expected', { status: 'ok', exit_code: 0, output: '' }, null],
    [
      'a timeout',
      { status: 'timeout', exit_code: null, output: 'waiting' },
      /ended as timeout, expected exit 0\.\nLast output:\nwaiting/,
    ],
    [
      'an interruption',
      { status: 'interrupted', exit_code: null, output: '' },
      /was interrupted, and it is unknown whether it took effect/,
    ],
  ])('fails on %s', async (_name, result, message) => {
    const yaml = message
      ? '- thought: x\n- run: npm test\n- answer: done'
      : '- thought: x\n- run: npm test\n  expect_exit: 1\n- answer: done'
    const error = await failure(playOn([prompt(block(yaml))], () => result))
    expect(error).toMatchObject({ code: 'script_failed', retryable: false })
    expect(error.message).toMatch(message ?? /exited 0, expected 1/)
  })

  test('fails when a file cannot be written or edited, and keeps its message short', async () => {
    const edit = await failure(
      playOn([prompt(block('- edit: {path: src/a.js, old: x, new: y}'))], () => ({
        status: 'error',
        message: 'old text not found',
      })),
    )
    expect(edit.message).toContain('edit "src/a.js" did not work (error)')
    expect(edit.message).toContain('old text not found')
    const long = await failure(
      playOn([prompt(block('- run: yes'))], () => ({
        status: 'error',
        exit_code: 1,
        output: 'y\n'.repeat(100_000),
      })),
    )
    expect(long.message.length).toBeLessThan(3_000)
  })

  test('fails when the journal has no result for its last step', async () => {
    const messages = [prompt(block('- run: ls'))]
    messages.push(...(await callModel(messages)).messages)
    expect((await failure(callModel(messages))).message).toContain('has no result')
  })

  test('continues after a steering message, marked as prompt or not', async () => {
    const messages = [prompt(block('- run: a\n- run: b\n- answer: done'))]
    const { calls } = await playOn(messages, name => {
      messages.push({ role: 'user', content: 'hurry up' }, prompt('please hurry'))
      return fine(name)
    })
    expect(calls.map(call => call.input)).toEqual([{ command: 'a' }, { command: 'b' }])
  })

  test('is read only from a prompt, never from other text', async () => {
    const { calls } = await playOn(
      [prompt('hello'), { role: 'user', content: block('- run: curl evil') }],
      fine,
    )
    expect(JSON.stringify(calls)).not.toContain('evil')
  })

  test('of a follow-up is played after the first, in the same conversation', async () => {
    const messages = [prompt(block('- run: a\n- answer: one'))]
    await playOn(messages, fine)
    messages.push(prompt(block('- run: b\n- answer: two')))
    const { calls, response } = await playOn(messages, fine)
    expect(calls.map(call => call.input)).toEqual([{ command: 'b' }])
    expect(response.text).toBe('two')
  })

  test('without steps for failed checks keeps its answer when they fail', async () => {
    const messages = [prompt(block('- run: a\n- answer: done'))]
    await playOn(messages, fine)
    messages.push({
      role: 'user',
      content: 'A check failed.',
      providerOptions: { agentrun: { checks_failed: true } },
    })
    expect((await playOn(messages, fine)).response.text).toBe('done')
  })

  test('of a follow-up is played after one that failed', async () => {
    const messages = [prompt(block('- run: a\n- run: b'))]
    await failure(playOn(messages, () => ({ status: 'error', exit_code: 1, output: '' })))
    messages.push(prompt(block('- run: c\n- answer: repaired')))
    expect((await playOn(messages, fine)).response.text).toBe('repaired')
  })

  test('that cannot be read fails with line and key', async () => {
    expect((await failure(callModel([prompt(block('- run: ls\n- shout: x'))]))).message).toContain(
      'line 4, shout',
    )
  })

  test('continues at the same step when the conversation is rebuilt', async () => {
    const messages = [prompt(block('- run: a\n- run: b\n- answer: done'))]
    await playOn(messages, fine)
    const rebuilt = JSON.parse(JSON.stringify(messages.slice(0, 3)))
    expect(
      (
        await createScriptedModel().call({
          instructions: '',
          messages: rebuilt,
          tools: [],
          max_output_tokens: 1,
          timeouts: { first_byte_ms: 1, idle_ms: 1, total_ms: 1 },
        })
      ).tool_calls[0]?.input,
    ).toEqual({ command: 'b' })
  })
})

describe('a prompt without a playbook', () => {
  const repository = (name: string, input: Record<string, unknown>) => {
    if (name === 'read')
      return {
        status: 'ok',
        path: input.path,
        content: '<p>logo</p>\n# Tidy\n\n[![ci](x)](y)\nTidies *everything*,\nquickly.\n\n## Use\n',
      }
    const output = String(input.command).startsWith('git rev-list')
      ? '12\nabc123 fix the thing\ndef456 start\n'
      : '7\n.github/\nREADME.md\nsrc/\n'
    return { status: 'ok', exit_code: 0, output, truncated: false }
  }

  test('gets a tour that declares itself scripted, reports what it detected and explains how to configure a model', async () => {
    const { calls, response } = await playOn([prompt('please fix the bug')], repository)
    expect(calls.map(call => call.name)).toEqual(['shell', 'shell', 'read'])
    expect(calls[2]?.input).toMatchObject({ path: 'README.md' })
    for (const word of [
      'scripted tour without a language model',
      'not attempted',
      '7 files',
      '12 commits',
      '`src/`',
      '“Tidy” — Tidies *everything*, quickly.',
      'abc123',
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GOOGLE_GENERATIVE_AI_API_KEY',
      'OPENAI_COMPATIBLE_BASE_URL',
      'AGENTRUN_DEFAULT_MODEL',
      'playbook',
    ])
      expect(response.text).toContain(word)
  })

  test('gets a tour of an empty workspace too', async () => {
    const { calls, response } = await playOn([prompt('hello')], () => ({
      status: 'error',
      exit_code: 127,
      output: '',
    }))
    expect(calls).toHaveLength(2)
    expect(response.text).toContain('0 files under version control and 0 commits')
    expect(response.text).toContain('No README')
  })

  test('counts one file and one commit in the singular', async () => {
    const { response } = await playOn([prompt('hello')], () => ({
      status: 'ok',
      exit_code: 0,
      output: '1\n',
    }))
    expect(response.text).toContain('- 1 file under version control and 1 commit.')
  })

  test('after a finished script or tour gets a short reply, and nothing is run', async () => {
    for (const first of [prompt(block('- run: a\n- answer: one')), prompt('look around')]) {
      const messages = [first]
      await playOn(messages, repository)
      messages.push(prompt('now do more'))
      const { calls, response } = await playOn(messages, repository)
      expect(calls).toEqual([])
      expect(response.text).toContain('nothing was done')
      if (first === messages[0] && JSON.stringify(first).includes('answer: one'))
        expect(response.text).toContain('ended with:\n\n> one\n')
    }
  })

  test('after an interrupted run of a real model gets a short reply, not invented counts', async () => {
    const messages: ModelMessage[] = [
      prompt('fix'),
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'shell', input: { command: 'ls' } }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'shell',
            output: { type: 'json', value: { status: 'ok' } },
          },
        ],
      },
      prompt('go on'),
    ]
    expect((await callModel(messages)).text).toContain('nothing was done')
  })
})

test('a stopped call is aborted', async () => {
  expect(await failure(callModel([prompt('x')], { signal: AbortSignal.abort() }))).toMatchObject({
    code: 'aborted',
  })
})
