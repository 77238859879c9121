import type { ModelSettings } from '../../src/contract/model-settings.ts'
import { createModelCatalog } from '../../src/model/catalog.ts'
import {
  type Model,
  ModelError,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
} from '../../src/model/port.ts'
import { anthropicEvents, startFakeAnthropic } from './fake-anthropic.ts'
import { googleEvents, startFakeGoogle } from './fake-google.ts'
import { chatEvents, responsesEvents, startFakeOpenAI } from './fake-openai.ts'
import type { FakeResponse, FakeScript, FakeServer, SeenRequest } from './fake-server.ts'

export const KEY = 'secret-key-0123456789'

/** `modelOf` gets a model from the same catalog, as each turn of a run does. */
type ConnectedModel = AsyncDisposable & { server: FakeServer; model: Model; modelOf(id: string): Model }
/** `settings`: the settings of the model in AGENTRUN_MODELS. */
type Choice = { id?: string; settings?: ModelSettings }
export type Protocol = {
  name: string
  connect(script: FakeScript, choice?: Choice): Promise<ConnectedModel>
  /** The events of a valid response, which a test changes. */
  events(response: FakeResponse): string[]
}

function protocol(
  name: string,
  start: (script: FakeScript) => Promise<FakeServer & { base_url: string }>,
  write: (response: FakeResponse, request: { n: number }) => Iterable<string>,
  id: string,
): Protocol {
  return {
    name,
    events: response => [...write(response, { n: 0 })],
    async connect(script, choice = {}) {
      const server = await start(script)
      const { base_url } = server
      const [provider = ''] = id.split('/')
      const chosen = choice.id ?? id
      const models = choice.settings ? { [chosen]: choice.settings } : {}
      const catalog = createModelCatalog({
        default_model: null,
        [provider.replace('-', '_')]: { api_key: KEY, base_url },
        models,
      })
      const modelOf = (of: string) => {
        const model = catalog.get(of)
        if (!model) throw new Error(`no model ${of}`)
        return model
      }
      return {
        server,
        model: modelOf(chosen),
        modelOf,
        [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      }
    },
  }
}

/** The four wire formats, each with a fake server and the real adapter in front of it. */
export const COMPATIBLE = protocol(
  'openai-compatible',
  startFakeOpenAI,
  chatEvents,
  'openai-compatible/org/local:7b',
)
export const OPENAI = protocol('openai', startFakeOpenAI, responsesEvents, 'openai/gpt-6.1-sol')
export const ANTHROPIC = protocol(
  'anthropic',
  startFakeAnthropic,
  anthropicEvents,
  'anthropic/claude-sonnet-5-5',
)
export const GOOGLE = protocol('google', startFakeGoogle, googleEvents, 'google/gemini-3.8-flash')
export const PROTOCOLS = [COMPATIBLE, OPENAI, ANTHROPIC, GOOGLE]

const TOOLS = ['shell', 'read', 'write'].map(name => ({
  name,
  description: `The ${name} tool.`,
  input_schema: { type: 'object', properties: { command: { type: 'string' }, path: { type: 'string' } } },
}))

/** A request with timeouts that only a broken adapter reaches. */
export function request(more: Partial<ModelRequest> = {}): ModelRequest {
  const timeouts = { first_byte_ms: 20_000, idle_ms: 20_000, total_ms: 20_000 }
  return {
    instructions: 'You write code.',
    messages: [prompt('go')],
    tools: TOOLS,
    max_output_tokens: 1_000,
    timeouts,
    ...more,
  }
}

/** The limit of the response that a request has, in any wire format. */
export function limitOf({ body }: Pick<SeenRequest, 'body'>): number {
  const google = body.generationConfig as { maxOutputTokens?: number } | undefined
  return Number(body.max_tokens ?? body.max_output_tokens ?? google?.maxOutputTokens)
}

export function prompt(content: string): ModelMessage {
  return { role: 'user', content, providerOptions: { agentrun: { prompt: true } } }
}

/** The conversation after `response`, with a result for each of its calls, as the journal gives it back. */
export function goOn(messages: ModelMessage[], response: ModelResponse): ModelMessage[] {
  const results = response.tool_calls.map(call => ({
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: call.id,
        toolName: call.name,
        output: { type: 'json', value: { status: 'ok', of: call.id } },
      },
    ],
  }))
  return JSON.parse(JSON.stringify([...messages, ...response.messages, ...results]))
}

/** The ModelError a call ends with; anything else fails the test. */
export async function failureOf(call: Promise<unknown>): Promise<ModelError> {
  const ended = await call.then(
    response => ({ answer: response }),
    (error: unknown) => ({ error }),
  )
  if ('error' in ended && ended.error instanceof ModelError) return ended.error
  throw new Error(`expected a ModelError, got ${JSON.stringify(ended)}`, {
    cause: 'error' in ended ? ended.error : undefined,
  })
}
