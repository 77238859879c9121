import { type AgentPreset, NO_KEY } from '../agent-preset.ts'

export const gemini: AgentPreset = {
  label: 'Gemini CLI',
  npm: { package: '@google/gemini-cli', verified: '0.61.0' },
  apis: ['google-generate-content'],
  // Version 0.61 does not find its sessions again, and sends their history after it has responded.
  continues: false,
  start: ({ gateway, name }, asks) => ({
    command: `exec node /opt/agents/gemini/node_modules/@google/gemini-cli/bundle/gemini.js --acp --approval-mode=${asks ? 'default' : 'yolo'}`,
    environment: {
      GOOGLE_GEMINI_BASE_URL: gateway,
      GEMINI_API_KEY: NO_KEY,
      GEMINI_MODEL: name,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_SANDBOX: 'false',
      GEMINI_TELEMETRY_ENABLED: 'false',
    },
    files: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        // Searches run at the provider.
        tools: { exclude: ['google_web_search'] },
      }),
    },
  }),
}
