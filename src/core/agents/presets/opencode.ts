import type { ModelApi } from '../../../contract/model-settings.ts'
import { type AgentPreset, type CalledModel, NO_KEY } from '../agent-preset.ts'

const PACKAGES: Record<ModelApi, { npm: string; path: string }> = {
  'openai-chat': { npm: '@ai-sdk/openai-compatible', path: '/v1' },
  'openai-responses': { npm: '@ai-sdk/openai', path: '/v1' },
  'anthropic-messages': { npm: '@ai-sdk/anthropic', path: '/v1' },
  'google-generate-content': { npm: '@ai-sdk/google', path: '/v1beta' },
}

export const opencode: AgentPreset = {
  label: 'OpenCode',
  npm: { package: 'opencode-ai', verified: '1.18.33' },
  apis: ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-generate-content'],
  start: (model, asks) => ({
    command: 'exec /opt/agents/opencode/node_modules/.bin/opencode acp',
    environment: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(model, asks)),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    },
  }),
}

function configOf({ gateway, api, name, context_tokens, max_output_tokens }: CalledModel, asks: boolean) {
  const { npm, path } = PACKAGES[api]
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
    model: `gateway/${name}`,
    small_model: `gateway/${name}`,
    enabled_providers: ['gateway'],
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    permission: asks ? { edit: 'ask', bash: 'ask', webfetch: 'ask' } : 'allow',
  }
}
