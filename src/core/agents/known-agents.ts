import type { ModelApi } from '../../contract/model-settings.ts'

/** The model of a run, as a program in its sandbox calls it. `gateway`: the address of the model gateway, without a path. */
export type CalledModel = {
  gateway: string
  api: ModelApi
  name: string
  context_tokens: number | null
  max_output_tokens: number | null
}

/** An agent whose settings the service knows, so that an operator states its folder only: that of `npm install --prefix FOLDER PACKAGE`. */
type KnownAgent = {
  label: string
  command: string
  apis: readonly ModelApi[]
  environment(model: CalledModel): Record<string, string>
}

/** What a program gets where it requires a key: the gateway has the real one. */
const NO_KEY = 'none'

const OPENCODE_PACKAGES: Record<ModelApi, { npm: string; path: string }> = {
  'openai-chat': { npm: '@ai-sdk/openai-compatible', path: '/v1' },
  'openai-responses': { npm: '@ai-sdk/openai', path: '/v1' },
  'anthropic-messages': { npm: '@ai-sdk/anthropic', path: '/v1' },
  'google-generate-content': { npm: '@ai-sdk/google', path: '/v1beta' },
}

export const KNOWN_AGENTS: Record<string, KnownAgent> = {
  opencode: {
    label: 'OpenCode',
    command: 'exec /opt/agents/opencode/node_modules/.bin/opencode acp',
    apis: ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-generate-content'],
    environment: model => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(model)),
      ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    }),
  },
}

function opencodeConfig({ gateway, api, name, context_tokens, max_output_tokens }: CalledModel) {
  const { npm, path } = OPENCODE_PACKAGES[api]
  const limit = { context: context_tokens ?? 128_000, output: max_output_tokens ?? 32_000 }
  return {
    provider: {
      gateway: {
        npm,
        name: 'Gateway',
        options: { baseURL: `${gateway}${path}`, apiKey: NO_KEY },
        models: { [name]: { name, tool_call: true, limit } },
      },
    },
    ...{ model: `gateway/${name}`, small_model: `gateway/${name}`, enabled_providers: ['gateway'] },
    ...{ autoupdate: false, share: 'disabled', permission: 'allow', snapshot: false },
  }
}
