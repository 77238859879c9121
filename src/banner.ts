import { shellQuote } from './core/text/shell-quote.ts'
import type { FirstStartResult } from './service/access/first-start.ts'
import type { CredentialFiles } from './system/start-credentials.ts'

/**
 * Returns what a start writes to standard output. The sign-in link is new at every start, the token only at
 * the first one. `files`: where they are instead of in this text, because standard output is not a terminal;
 * null: in this text.
 */
export function banner(facts: {
  base_url: string
  started: FirstStartResult
  missing_repository: string | null
  link: string
  /** Created by this start, or null. */
  token: string | null
  files: CredentialFiles | null
  data_dir: string
  default_model: string | null
  blocked: string | null
}): string {
  const { base_url, started, link, files } = facts
  const { organization_id, repository } = started
  const token_file = files?.token ?? null
  const shown_token = files === null ? facts.token : null
  const token = token_file === null ? (shown_token ?? '$AGENTRUN_TOKEN') : `$(cat ${shellQuote(token_file)})`
  const lines = [
    '',
    `Agent Run Service is ready:  ${base_url}`,
    '',
    files === null
      ? `  sign in (once, 15 minutes)  ${link}`
      : `  sign in (once, 15 minutes)  the link in ${files.link}`,
    ...(shown_token === null ? [] : [`  token (shown only now)      ${shown_token}`]),
    ...(token_file === null
      ? []
      : [`  token                       in ${token_file}; remove the file when you have the token`]),
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

/** Returns what the start of a worker without an API writes to standard output. */
export function workerBanner(facts: {
  data_dir: string
  concurrency: number
  blocked: string | null
}): string {
  const lines = [
    '',
    `Agent Run worker is ready: it works on up to ${facts.concurrency} runs at a time`,
    `  data  ${facts.data_dir}`,
    ...(facts.blocked === null ? [] : ['', `It starts none now: ${facts.blocked}`]),
    '',
  ]
  return `${lines.join('\n')}\n`
}
