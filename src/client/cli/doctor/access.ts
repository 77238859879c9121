import { deadline } from '../../../core/deadline.ts'
import {
  checkModels as judgedModels,
  checkRepositories as judgedRepositories,
} from '../../../core/health-checks.ts'
import { AgentRunError, type Client } from '../../sdk/client.ts'
import type { Result } from '../../sdk/operations.ts'
import { broken, type Finding, ok, type Patient, warning } from './check.ts'

/** A stream sends its first bytes at once. */
const EVENT_TIMEOUT_MS = 5_000

/** Checks that the service accepts the token, and names its user and role. */
export async function checkToken(client: Client, { settings, signal }: Patient): Promise<Finding[]> {
  const { token_from } = settings
  try {
    const { id, full_name, role } = await client.call('getMe', { signal })
    return [ok('token', `${full_name ?? `user ${id}`}${role === null ? '' : `, ${role}`} (${token_from})`)]
  } catch (error) {
    if (!(error instanceof AgentRunError)) throw error
    if (error.status === 403) return [ok('token', `accepted, without the scope org:read (${token_from})`)]
    const where =
      token_from === 'environment' ? 'put another into AGENTRUN_TOKEN' : 'run "agentrun login" with another'
    return [
      broken(
        'token',
        error.detail,
        `it may have expired or been revoked: ${where}; on the machine of the service "./agentrun admin token" creates one`,
      ),
    ]
  }
}

/** Checks that the token reaches the chosen organization, by one page of its runs. */
export async function checkOrganization(client: Client, { signal }: Patient): Promise<Finding[]> {
  try {
    const organization_id = await client.organization()
    const page = await client.call('listAgentRuns', {
      params: { org_id: organization_id },
      query: { limit: 1 },
      signal,
    })
    return [ok('organization', `${organization_id}, runs so far: ${page.total}`)]
  } catch (error) {
    if (!(error instanceof AgentRunError)) throw error
    const fix =
      error.code === 'organization_needed'
        ? 'give --org ID, set AGENTRUN_ORG, or store it: agentrun login --org ID'
        : 'give the id of an organization that the token belongs to (--org, AGENTRUN_ORG)'
    return [broken('organization', error.detail, fix)]
  }
}

/** What each scope is good for, and a question that changes nothing but is refused without it. */
const questions: {
  scope: string
  about: string
  administers?: true
  send: (client: Client, signal: AbortSignal) => Promise<unknown>
}[] = [
  {
    scope: 'runs:read',
    about: 'see runs',
    send: (client, signal) => client.call('listAgentRuns', { query: { limit: 1 }, signal }),
  },
  // A stop of nothing is refused: 403 without the scope, and 400 with it.
  {
    scope: 'runs:write',
    about: 'start and stop runs',
    send: (client, signal) => client.call('stopAgentRun', { body: {} as { agent_run_id: number }, signal }),
  },
  // Run 0 never is: 404 with the scope.
  {
    scope: 'logs:read',
    about: 'read traces',
    send: (client, signal) => client.call('getAgentRunLogs', { params: { agent_run_id: 0 }, signal }),
  },
  {
    scope: 'repos:read',
    about: 'see repositories',
    send: (client, signal) => client.call('listRepositories', { query: { limit: 1 }, signal }),
  },
  {
    scope: 'org:read',
    about: 'see models and members',
    send: (client, signal) => client.call('listModels', { signal }),
  },
  // Repository 0 never is: 404 with the scope.
  {
    scope: 'repos:admin',
    about: 'register repositories',
    administers: true,
    send: (client, signal) => client.call('updateRepository', { params: { repo_id: 0 }, body: {}, signal }),
  },
  {
    scope: 'org:admin',
    about: 'administer the organization',
    administers: true,
    send: (client, signal) => client.call('listAuditLog', { query: { limit: 1 }, signal }),
  },
]

/**
 * Checks what the token may do. A missing scope is a warning, because the token may be meant to do less; one
 * for administration is not reported.
 */
export async function checkScopes(client: Client, { signal }: Patient): Promise<Finding[]> {
  const missing: typeof questions = []
  for (const question of questions)
    await question.send(client, signal).catch(error => {
      if (!(error instanceof AgentRunError)) throw error
      if (error.status === 403) missing.push(question)
    })
  const has = questions.filter(question => !missing.includes(question)).map(({ scope }) => scope)
  const may = ok('permissions', has.length === 0 ? 'none' : has.join(', '))
  const wanted = missing.filter(({ administers }) => !administers)
  if (wanted.length === 0) return [may]
  const lacks = wanted.map(({ scope, about }) => `${scope} (${about})`).join(', ')
  return [
    may,
    warning('permissions', `the token lacks ${lacks}`, 'if it shall, use a token with these scopes'),
  ]
}

/** Checks that there is a repository to work on. */
export async function checkRepositories(client: Client, { signal }: Patient): Promise<Finding[]> {
  const page = await client.repositories({ limit: 100 }, { signal }).then(page => page, onFailure)
  if (page === null) return []
  const chosen = page.items.find(item => item.is_default) ?? (page.total === 1 ? page.items[0] : undefined)
  return [judgedRepositories(page.total, chosen)]
}

/** Checks whether there is a language model, or only scripts. */
export async function checkModels(client: Client, { signal }: Patient): Promise<Finding[]> {
  const models: Result<'listModels'> | null = await client.call('listModels', { signal }).catch(onFailure)
  if (models === null) return []
  return [
    judgedModels(
      models.providers.map(({ name }) => name),
      models.default_model,
    ),
  ]
}

/** Checks that events arrive: a proxy may hold streams back. */
export async function checkEvents(client: Client, { signal }: Patient): Promise<Finding[]> {
  using limit = deadline(EVENT_TIMEOUT_MS, signal)
  try {
    const response = await client.request('streamOrganizationEvents', { signal: limit.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    return [ok('events', 'come through')]
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof AgentRunError && error.status === 403) return []
    const fix =
      'let the proxy in between pass text/event-stream on without buffering; until then the command polls every 2 s'
    return [
      broken(
        'events',
        error instanceof AgentRunError ? error.detail : 'the stream opens, but nothing comes through',
        fix,
      ),
    ]
  }
}

/** A forbidden request is not a finding: the permissions report it. */
function onFailure(error: unknown): null {
  if (error instanceof AgentRunError) return null
  throw error
}
