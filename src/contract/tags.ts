/** The chapters of the reference. A row names one of them. */
export const tags = {
  agents: 'Agent runs: start one, follow what it does, answer it, stop it, read what it changed.',
  artifacts: 'Files that a run left beside its commits, and outputs too long for a log entry.',
  'pull-requests': 'What runs proposed. Pull requests of the built-in forge are records of the service.',
  repositories: 'Git repositories that runs work on.',
  'check-suite-settings': 'How runs treat failing checks of a repository.',
  checks: 'Checks that the service runs on what runs push, and what all checks of a pull request say.',
  'setup-commands': 'Finding out how a repository is set up.',
  sandbox: 'Sandboxes of runs, and the analysis of their logs.',
  organizations: 'Organizations of the caller, and what belongs to one as a whole.',
  users: 'People and service users of an organization.',
  members: 'Who belongs to an organization, and in which role.',
  tokens: 'Bearer tokens: their scopes, expiry and revocation.',
  secrets: 'Values that runs are given and that nobody reads back.',
  egress: 'What runs may reach of the network.',
  webhooks: 'Where the service reports what runs do.',
  integrations: 'Which outside services an organization is connected to.',
  models: 'Models that a run can name.',
  'cli-rules': 'Rules for coding agents on the command line.',
  'slack-connect': 'Connecting a Slack account.',
  audit: 'Who changed what in the administration of an organization.',
  usage: 'What runs used and cost.',
  service: 'The service itself: health, sign-in of the web interface, this document.',
} as const

export type Tag = keyof typeof tags
