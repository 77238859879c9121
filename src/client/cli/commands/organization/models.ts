import { readFileSync } from 'node:fs'
import type { ModelProvider } from '../../../../contract/model-settings.ts'
import { readJson } from '../../../../core/json/parse-json.ts'
import type { Body, Result } from '../../../sdk/operations.ts'
import { model_providers } from '../../../sdk/routes.ts'
import { type CommandArguments, command, type Options, printResult } from '../../command.ts'
import { CliError, exit, UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { readSecret } from '../../read-secret.ts'
import { table } from '../../resource.ts'

const actions = ['list', 'key', 'set', 'test', 'remove'] as const

const options = {
  all: { type: 'boolean', actions: ['list'], about: 'also models whose provider has no key' },
  'base-url': {
    type: 'string',
    value: 'URL',
    actions: ['key'],
    about: 'address of the provider; required for openai-compatible',
  },
} as const satisfies Options

export const models = command({
  name: 'models',
  summary: 'list models and prices, set keys, add models, test them',
  usage: ['[list]', 'key PROVIDER', 'set FILE', 'test MODEL', 'remove PROVIDER|MODEL'],
  words: [0, 2],
  choices: actions,
  options,
  notes: [
    `key prompts for the key of a provider, or reads it from standard input. Providers: ${model_providers.join(', ')}`,
    'set reads a model as JSON, with the fields of AGENTRUN_MODELS, id and api_key: {"id": "acme/coder", "api": "openai-chat", …}',
  ],
  async run(given) {
    const [action = 'list', which] = given.words
    if (action === 'list') return list(given)
    if (which === undefined) throw new UsageError(`agentrun models ${action} takes one more word`)
    const { client, signal } = given
    if (action === 'test') {
      const tested = await client().call('testModel', { body: { model: which }, signal })
      printResult(given, tested, () => [
        tested.ok
          ? `ok: ${which} responded in ${tested.latency_ms} ms`
          : `${tested.error?.code}: ${plainText(tested.error?.message ?? '')}`,
      ])
      return tested.ok ? exit.success : exit.failed
    }
    const done = await (action === 'key'
      ? setKey(given, which)
      : action === 'set'
        ? setModel(given, which)
        : remove(given, which))
    const what = action === 'remove' ? 'removed' : 'set'
    return printResult(given, done, () => [`${what}: ${firstLine('id' in done ? done.id : which, 250)}`])
  },
})

function providerNamed(name: string): ModelProvider {
  const provider = model_providers.find(known => known === name)
  if (provider === undefined) throw new UsageError(`a provider is one of ${model_providers.join(', ')}`)
  return provider
}

async function setKey(given: CommandArguments<typeof options>, name: string) {
  const provider = providerNamed(name)
  const api_key = (await readSecret(given, `Key of ${provider}`)).trim()
  const body = { api_key, base_url: given.values['base-url'] }
  return given
    .client()
    .call('setModelProvider', { params: { provider }, body, repeatable: true, signal: given.signal })
}

async function setModel({ client, signal }: CommandArguments<typeof options>, file: string) {
  return client().call('setModel', { body: modelIn(file), repeatable: true, signal })
}

/** Parses the file. Only its shape is checked here: the service reports mistakes with their fields. */
function modelIn(file: string): Body<'setModel'> {
  const model = jsonOf(file)
  if (!isModel(model)) throw new CliError(`${file} must be a JSON object with an id`)
  return model
}

const isModel = (value: unknown): value is Body<'setModel'> =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'

function jsonOf(file: string): unknown {
  const { value, problem } = readJson('setting', contentOf(file))
  if (problem !== undefined) throw new CliError(`${file} ${problem.message}`)
  return value
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
}

async function remove({ client, signal }: CommandArguments<typeof options>, which: string) {
  if (!which.includes('/'))
    return client().call('deleteModelProvider', { params: { provider: providerNamed(which) }, signal })
  return client().call('deleteModel', { query: { id: which }, signal })
}

type Model = Result<'getModelSettings'>['models'][number]

const modelTable = table<Model>({
  MODEL: one => firstLine(one.id, 100),
  'SET BY': one => one.source,
  CONTEXT: one => one.context_tokens?.toLocaleString('en') ?? 'unknown',
  'USD PER MILLION TOKENS': one =>
    one.price === null ? 'unknown' : `${one.price.input} in, ${one.price.output} out`,
})

async function list({
  values,
  client,
  json,
  print,
  signal,
}: CommandArguments<typeof options>): Promise<number> {
  const settings = await client().call('getModelSettings', { signal })
  if (json) {
    print.json(settings)
    return 0
  }
  const shown = settings.models.filter(model => values.all || model.usable)
  for (const line of modelTable(shown, print)) print.line(line)
  const keys = settings.providers.map(
    ({ provider, source }) => `${provider} ${source === null ? 'no key' : `key of the ${source}`}`,
  )
  print.note(`default ${settings.default_model}; ${keys.join(', ')}`)
  return 0
}
