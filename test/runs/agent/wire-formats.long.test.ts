import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claudeCache } from '../../model/claude-cache.ts'
import { startFakeAnthropic } from '../../model/fake-anthropic.ts'
import { startFakeGoogle } from '../../model/fake-google.ts'
import { startFakeOpenAI } from '../../model/fake-openai.ts'
import type {
  FakeReply,
  FakeResponse,
  FakeScript,
  FakeServer,
  FakeToolCall,
  SeenRequest,
} from '../../model/fake-server.ts'
import { sentConversation } from '../../model/sent-conversation.ts'
import { TOKEN } from '../../start-app.ts'
import { testFolder } from '../../temporary-folder.ts'
import { finish, makeRepository, shell } from '../coding-app.ts'
import { startServiceProcess } from '../recovery/service-process.ts'
import { tokensOf } from './windowed-model.ts'

type Format = {
  name: string
  start(script: FakeScript): Promise<FakeServer & { base_url: string }>
  model: string
  /** The beginning of the provider's variables. */
  variables: string
}
const FORMATS: Format[] = [
  {
    name: 'Anthropic Messages',
    start: startFakeAnthropic,
    model: 'anthropic/claude-sonnet-5-5',
    variables: 'ANTHROPIC',
  },
  { name: 'OpenAI Responses', start: startFakeOpenAI, model: 'openai/gpt-6.1-sol', variables: 'OPENAI' },
  {
    name: 'Chat Completions',
    start: startFakeOpenAI,
    model: 'openai-compatible/fake',
    variables: 'OPENAI_COMPATIBLE',
  },
  {
    name: 'Gemini',
    start: startFakeGoogle,
    model: 'google/gemini-3.8-flash',
    variables: 'GOOGLE_GENERATIVE_AI',
  },
]

/**
 * Text that JSON must escape, without the escapes themselves: one in a result comes from JSON inside JSON.
 */
const DATA = `const pattern = /\\d+\\s"x"/ // "quoted"\n\t{"json": ["a", "b"]} 'ünï' <&>\n`
const TURNS = { first: 70, second: 30 }
/**
 * The steps whose request gets no response, and the one whose tool does not end, until the service is killed.
 */
const KILLED_REQUESTS = [20, 85]
const KILLED_CALL = 45

/** Parallel calls, each another one: 2, and in every tenth step 12. */
function callsOf(step: number, { model }: Format): FakeToolCall[] {
  const reads = Array.from({ length: step % 10 === 0 ? 12 : 2 }, (_, n) => ({
    name: 'read',
    arguments: { path: 'data.txt', limit: 100 + step * 20 + n },
  }))
  const patch = `*** Begin Patch\n*** Add File: notes-${step}.txt\n+"${step}"\n*** End Patch`
  const change: FakeToolCall = model.startsWith('openai/')
    ? { name: 'apply_patch', arguments: patch, custom: true }
    : { name: 'write', arguments: { path: `notes-${step}.txt`, content: `"${step}"\n` } }
  const more: FakeToolCall[][] = [
    [shell(`cat data.txt # ${step}`)],
    [
      shell(`cat data.txt; exit ${step}`),
      { name: 'search', arguments: { pattern: 'quoted', context: step } },
    ],
    [{ name: 'read', arguments: { path: `none-${step}.txt` } }],
    [change],
    [{ name: 'no_such_tool', arguments: { step } }],
  ]
  const [first, ...others] = [...(more[step % more.length] ?? []), ...reads]
  return first === undefined ? [] : [first, ...(step === KILLED_CALL ? [shell('sleep 600')] : []), ...others]
}

/**
 * A model of 100 steps in two turns. `killed`: resolves when the service must be killed the n-th time; the
 * calls of a step are never given twice.
 */
function playRun(format: Format) {
  const killed = Array.from({ length: KILLED_REQUESTS.length + 1 }, () => Promise.withResolvers<void>())
  const held = new Set<number>()
  const cache = claudeCache()
  const cached: { now: number; before: number }[] = []
  let step = 0
  let before = 0
  const reply = (): FakeResponse => {
    if (KILLED_CALL === step) killed[1]?.resolve()
    if (step === TURNS.first) return { ...finish('First turn.') }
    if (step > TURNS.first + TURNS.second) return finish('Second turn.')
    return { reasoning: `"${step}"`, text: `Step ${step}.`, tool_calls: callsOf(step, format) }
  }
  const script = (request: SeenRequest): FakeReply => {
    const usage = {
      input: tokensOf(request),
      output: 50,
      ...(format.model.startsWith('anthropic/') && cache(request.body)),
    }
    cached.push({ now: usage.cached ?? 0, before })
    before = usage.input
    if (isSummary(request)) return { text: 'Goal: go on.', usage }
    if (KILLED_REQUESTS.includes(step) && !held.has(step)) {
      held.add(step)
      killed[step < KILLED_CALL ? 0 : 2]?.resolve()
      return { stall: held.size === 1 ? 'before_headers' : 'before_body' }
    }
    const given = { ...reply(), usage, split: 1_000 }
    step++
    return given
  }
  return { script, killed, cached }
}

const isSummary = (request: SeenRequest) =>
  JSON.stringify(request.body).includes('Answer with the summary alone')

// biome-ignore lint/suspicious/noExplicitAny: responses are read without types
async function call(base_url: string, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${base_url}/v1/organizations/1/agent${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return response.json()
}

/** Plays the run, with a `kill -9` at each of its points and a resume. Returns what the provider got. */
async function capture(format: Format) {
  const { script, killed, cached } = playRun(format)
  await using model = await format.start(script)
  const env = {
    AGENTRUN_LIMIT_STANDARD: 'off',
    AGENTRUN_LIMIT_TOKEN_TOTAL: 'off',
    AGENTRUN_COMPACT_TOKENS: '24000',
    AGENTRUN_DATA_DIR: join(testFolder(), 'data'),
    AGENTRUN_INIT_TOKEN: TOKEN,
    AGENTRUN_DEFAULT_MODEL: format.model,
    AGENTRUN_INIT_REPO_URL: makeRepository({ 'data.txt': DATA, 'AGENTS.md': 'Be "brief".\n' }),
    [`${format.variables}_API_KEY`]: 'key-of-the-provider',
    [`${format.variables}_BASE_URL`]: model.base_url,
  }
  let service = await startServiceProcess(env)
  const get = (path: string) => call(service.base_url, 'GET', path)
  const { id } = await call(service.base_url, 'POST', '/run', {
    prompt: 'Read "data.txt".',
    auto_create_pr: false,
  })
  const status = async () => (await get(`/run/${id}`)).status
  const ended = async (turn: number) =>
    expect
      .poll(async () => [(await get(`/run/${id}`)).turn, await status()], { timeout: 120_000 })
      .toEqual([turn, 'completed'])
  for (const [n, { promise }] of killed.entries()) {
    await promise
    // The long command has begun.
    if (n === 1)
      await expect.poll(async () => (await get(`/run/${id}`)).waiting_on, { timeout: 60_000 }).toBe('tool')
    service.child.kill('SIGKILL')
    await service.ended
    service = await startServiceProcess(env)
    if (n !== 1) continue
    await ended(1)
    await call(service.base_url, 'POST', '/run/resume', { agent_run_id: id, prompt: 'Read it "again".' })
  }
  await ended(2)
  const { logs } = await get(`/run/${id}/logs?tool_name=context_compacted`)
  service.child.kill('SIGTERM')
  await service.ended
  const requests = model.requests.map((request, n) => ({ ...request, ...cached[n] }))
  return { id: Number(id), compactions: logs.length as number, requests }
}

test.each(FORMATS)(
  '$name: what the provider gets over 100 steps with parallel calls, three kills and a resume',
  async format => {
    const { id, compactions, requests } = await capture(format)
    expect(requests.every(({ compact }) => compact)).toBe(true)
    const steps = requests
      .filter(request => !isSummary(request))
      .map(request => ({ request, ...sentConversation(request) }))
    expect(steps.length).toBe(TURNS.first + TURNS.second + 2 + KILLED_REQUESTS.length)
    expect(new Set(steps.map(({ fixed }) => fixed)).size).toBe(1)

    // Each request extends the previous one, unless the conversation was compacted between them.
    const grown = steps.map(({ parts }, n) =>
      (steps[n - 1]?.parts ?? []).every((part, i) => part === parts[i]),
    )
    expect(grown.filter(grew => !grew)).toHaveLength(compactions)
    expect(compactions).toBeGreaterThan(0)
    for (const [n, step] of KILLED_REQUESTS.entries()) expect(grown[step + n + 1]).toBe(true)

    for (const { calls, results } of steps) {
      expect(results.map(result => result.id)).toEqual(calls.map(made => made.id))
      expect(new Set(calls.map(made => made.id)).size).toBe(calls.length)
      for (const { text } of results) expect(text).not.toMatch(/\\["n]|^\s*\{.*\}\s*$/s)
    }
    const texts = new Set(steps.flatMap(({ results }) => results.map(({ text }) => text)))
    expect(texts).toContain(DATA)
    expect([...texts].filter(text => text.includes('[Exit code ')).length).toBeGreaterThan(10)
    expect([...texts].join('\n')).toMatch(/interrupted/i)

    const bodies = requests.map(({ body }) => body)
    if (format.model.startsWith('anthropic/')) {
      for (const [n, { marked, parts, request }] of steps.entries()) {
        expect(marked.at(-1)).toBe(parts.length - 1)
        expect(JSON.stringify(request.body).match(/"cache_control"/g)?.length).toBeLessThanOrEqual(4)
        if (grown[n]) expect(request.now).toBe(request.before)
      }
    } else if (format.model.startsWith('openai/')) {
      expect(new Set(bodies.map(body => body.prompt_cache_key))).toEqual(new Set([`agentrun-${id}`]))
    } else expect(JSON.stringify(bodies)).not.toMatch(/cache_control|prompt_cache_key/)
  },
  600_000,
)
