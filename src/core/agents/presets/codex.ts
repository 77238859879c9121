import type { AgentPreset, CalledModel } from '../agent-preset.ts'

/**
 * Codex by its adapter, which installs the program itself. Its own sandbox is off: that of the run is around
 * it.
 */
export const codex: AgentPreset = {
  label: 'Codex',
  npm: { package: '@agentclientprotocol/codex-acp', verified: '2.6.0' },
  apis: ['openai-responses'],
  start: (model, asks) => ({
    command: 'exec node /opt/agents/codex/node_modules/@agentclientprotocol/codex-acp/dist/index.js',
    environment: {
      CODEX_CONFIG: JSON.stringify(configOf(model)),
      MODEL_PROVIDER: 'gateway',
      INITIAL_AGENT_MODE: asks ? 'read-only' : 'agent-full-access',
      NO_BROWSER: '1',
    },
    files: { '.codex/config.toml': CONFIG_FILE },
  }),
}

/** What Codex reads before a session: its lists of plugins and apps are at hosts that a run does not need. */
const CONFIG_FILE = `check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[features]
apps = false
plugins = false
plugin_sharing = false
remote_plugin = false
`

function configOf({ gateway, name, context_tokens }: CalledModel) {
  return {
    model: name,
    model_provider: 'gateway',
    model_providers: {
      gateway: {
        name: 'Gateway',
        base_url: `${gateway}/v1`,
        wire_api: 'responses',
        requires_openai_auth: false,
      },
    },
    ...(context_tokens !== null && { model_context_window: context_tokens }),
    // Searches of the provider would reach hosts that the network rules of the run forbid.
    web_search: 'disabled',
    history: { persistence: 'none' },
  }
}
