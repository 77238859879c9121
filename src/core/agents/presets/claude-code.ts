import { type AgentPreset, NO_KEY } from '../agent-preset.ts'

/** Claude Code by its adapter, which installs the program itself. */
export const claudeCode: AgentPreset = {
  label: 'Claude Code',
  npm: { package: '@agentclientprotocol/claude-agent-acp', verified: '0.101.0' },
  apis: ['anthropic-messages'],
  start: ({ gateway, name, max_output_tokens }, asks) => ({
    command:
      'exec node /opt/agents/claude_code/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js',
    environment: {
      ANTHROPIC_BASE_URL: gateway,
      ANTHROPIC_API_KEY: NO_KEY,
      ANTHROPIC_MODEL: name,
      // Titles and sub-agents call the model of the run too: the gateway has no other.
      ANTHROPIC_SMALL_FAST_MODEL: name,
      CLAUDE_CODE_SUBAGENT_MODEL: name,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: name,
      ANTHROPIC_DEFAULT_SONNET_MODEL: name,
      ANTHROPIC_DEFAULT_OPUS_MODEL: name,
      ANTHROPIC_DEFAULT_FABLE_MODEL: name,
      ...(max_output_tokens !== null && { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(max_output_tokens) }),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      // Features that the gateway does not forward.
      CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1',
      ENABLE_TOOL_SEARCH: 'false',
      IS_SANDBOX: '1',
    },
    files: {
      '.claude/settings.json': JSON.stringify({
        // Searches run at the provider.
        permissions: { deny: ['WebSearch'], defaultMode: asks ? 'default' : 'bypassPermissions' },
        includeCoAuthoredBy: false,
        promptSuggestionEnabled: false,
        skipWebFetchPreflight: true,
      }),
    },
  }),
}
