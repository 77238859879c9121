import type { Started } from './service/first-start.ts'

/** What a start says to the person at the terminal. The token is there once, at the first start; the sign-in link at every start. */
export function banner(facts: {
  base_url: string
  started: Started
  missing_repository: string | null
  link: string
  data_dir: string
  default_model: string | null
  blocked: string | null
}): string {
  const { base_url, started, link } = facts
  const { organization_id, new_token, repository } = started
  const token = new_token ?? '$AGENTRUN_TOKEN'
  const lines = [
    '',
    `Agent Run Service is ready:  ${base_url}`,
    '',
    `  sign in (once, 15 minutes)  ${link}`,
    ...(new_token === null ? [] : [`  token (shown only now)      ${new_token}`]),
    `  organization id             ${organization_id}`,
    ...(repository ? [`  repository id               ${repository.id}  (${repository.name})`] : []),
    `  data                        ${facts.data_dir}`,
    `  API reference               ${base_url}/docs`,
    '',
    'Start a run:',
    '',
    `  curl -X POST ${base_url}/v1/organizations/${organization_id}/agent/run \\`,
    `    -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" \\`,
    `    -d '{"prompt":"Look around and tell me what this repository is.","repo_id":${repository?.id ?? 1}}'`,
    '',
    ...(facts.missing_repository === null
      ? []
      : [
          `The repository cannot be found at ${facts.missing_repository}: check AGENTRUN_INIT_REPO_URL. Runs on it fail until it is there.`,
          '',
        ]),
    ...(facts.blocked === null ? [] : [`Runs are accepted but none is started: ${facts.blocked}`, '']),
  ]
  return `${lines.join('\n')}\n`
}

export function workerBanner(facts: { data_dir: string; concurrency: number; blocked: string | null }): string {
  const lines = [
    '',
    `Agent Run worker is ready: it works on up to ${facts.concurrency} runs at a time`,
    `  data  ${facts.data_dir}`,
    ...(facts.blocked === null ? [] : ['', `It starts none now: ${facts.blocked}`]),
    '',
  ]
  return `${lines.join('\n')}\n`
}
