/** The sections of the reference. A row names one of them. */
export const tags = {
  agents: 'Agent runs: start, follow, resume and stop them, and read their changes.',
  artifacts: 'Files that a run left in addition to its commits, and outputs too long for a log entry.',
  'pull-requests':
    'Pull requests that runs proposed. Those of the built-in forge are records of the service.',
  repositories: 'Git repositories that runs work on.',
  'check-suite-settings': 'Settings for failing checks of a repository.',
  checks: 'Checks that the service runs on pushed commits, and the results of all checks of a pull request.',
  'setup-commands': "Detection of a repository's setup commands.",
  sandbox: 'Sandboxes of runs, and the analysis of their logs.',
  organizations: 'Organizations of the caller, and their settings, limits and health.',
  users: 'People and service users of an organization.',
  members: 'Members of an organization, and their roles.',
  tokens: 'Bearer tokens: their scopes, expiry and revocation.',
  secrets: 'Values that runs receive and that cannot be read back.',
  egress: 'Network access of runs.',
  webhooks: 'Webhooks that report runs.',
  integrations: 'Connections of an organization to external services.',
  models: 'Models that a run can name.',
  skills: 'Skills of an organization: instructions for agents about kinds of tasks.',
  'mcp-servers': 'MCP servers whose tools the agents of an organization use.',
  'cli-rules': 'Rules for coding agents on the command line.',
  'slack-connect': 'Connection of a Slack account.',
  audit: "The audit log of an organization's administration.",
  usage: 'Usage and cost of runs.',
  service: 'The service itself: health, sign-in of the web interface, this document.',
} as const

export type Tag = keyof typeof tags
