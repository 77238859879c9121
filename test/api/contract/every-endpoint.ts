import type { Endpoint } from '../../../src/contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../../src/contract/endpoints.ts'
import { clientId } from '../../../src/core/access/oauth-client.ts'
import { createSealer } from '../../../src/core/secrets/sealing.ts'

export type Call = {
  name: EndpointName
  method: Endpoint['method']
  /** With the required query. */
  path: string
  body: Record<string, unknown> | undefined
}
const SECRET_KEY = Buffer.alloc(32, 7)
/** Settings of a service at which the client of the sign-in by OAuth is registered. */
export const with_client = { AGENTRUN_SECRET_KEY: SECRET_KEY.toString('hex') }
const registered_client = clientId(createSealer(SECRET_KEY), {
  name: 'Editor',
  redirect_uris: ['http://127.0.0.1/x'],
})

/** The objects of the requests, all of one organization. */
export type Ids = {
  org_id: number
  run_id: number
  repo_id: number
  user_id: number
  pr_id: number
  artifact_id: number
  /** Objects that the caller does not need and that may be deleted. Absent: nonexistent ones. */
  token_id?: number
  service_user_id?: number
  /** Of a webhook. */
  delivery_id?: number
  /** Of the pull request, by the caller. */
  comment_id?: number
  /** Of the repository. */
  environment_id?: number
  /** Of the run. */
  sandbox_id?: number
  invitation_id?: number
}

/** Unknown ids. */
export const unknown: Required<Ids> = {
  org_id: 424_242,
  run_id: 424_242,
  repo_id: 424_242,
  user_id: 424_242,
  pr_id: 424_242,
  artifact_id: 424_242,
  token_id: 424_242,
  service_user_id: 424_242,
  delivery_id: 424_242,
  comment_id: 424_242,
  environment_id: 424_242,
  sandbox_id: 424_242,
  invitation_id: 424_242,
}

/**
 * Forges on this machine that do not respond: they can be connected if private addresses are allowed
 * (`AGENTRUN_ALLOW_PRIVATE_GIT`).
 */
const away = { github: 'http://127.0.0.1:1', gitea: 'http://127.0.0.1:2' }

/**
 * Every operation with a bearer token, as a request that succeeds with permission. Generated from the
 * contract, so that new operations are included.
 */
export function tokenCalls(ids: Ids): Call[] {
  const bodies: Partial<Record<EndpointName, Record<string, unknown>>> = {
    createAgentRun: { prompt: 'x', repo_id: ids.repo_id },
    dryRunAgentRun: { prompt: 'x', repo_id: ids.repo_id },
    createClaudeCodeSession: { session_id: 'x' },
    addClaudeCodeLog: { log: { type: 'user', message: { role: 'user', content: 'x' } } },
    setClaudeCodeStatus: { status: 'ACTIVE' },
    createOrganization: { name: 'x' },
    createRepository: { url: 'https://git.example.org/acme/another.git' },
    updateRepository: { name: 'changed' },
    setWebhook: { url: 'https://hooks.example.org/runs' },
    testWebhook: { url: 'https://hooks.invalid/runs' },
    redeliverFailedWebhooks: { since: '2026-11-20T10:00:00.000Z', limit: 10 },
    createGitHubApp: { url: 'https://github.invalid' },
    finishGitHubApp: { state: 'x', code: 'x' },
    connectGitHub: { url: away.github, token: 'x' },
    connectGitea: { url: away.gitea, token: 'x' },
    setSecret: { value: 'x' },
    setRepositorySecret: { value: 'x' },
    setEgress: { agent: { mode: 'allowlist', presets: ['npm'] } },
    setRepositoryEgress: { agent: { mode: 'off' } },
    setSetupCommands: { commands: ['npm ci'] },
    setCheckCommands: { checks: [{ name: 'test', command: 'npm test' }] },
    allowRepositoryEgress: { host: 'docs.example.com' },
    setModelProvider: { api_key: 'sk-0123456789' },
    setModel: { id: 'acme/coder', api: 'openai-chat', base_url: 'https://models.example.com/v1' },
    testModel: { model: 'scripted/playbook' },
    setSkill: { content: '---\nname: release\ndescription: Use it to publish.\n---\nTag it.\n' },
    setMcpServer: { url: 'https://mcp.example.com/mcp' },
    setRepositoryMcpServer: { url: 'https://mcp.example.com/mcp' },
    finishMcpSignIn: { state: 'x' },
    updateMe: { full_name: 'Ada' },
    updateCheckSuiteSettings: { check_retry_count: 1 },
    updateOrganization: { name: 'changed' },
    updateAgentRun: { title: 'changed' },
    resumeAgentRun: { agent_run_id: ids.run_id, prompt: 'x' },
    resumeAgentRunById: { prompt: 'x' },
    forkAgentRun: { agent_run_id: ids.run_id, from_seq: 1 },
    stopAgentRun: { agent_run_id: ids.run_id },
    pauseAgentRun: { agent_run_id: ids.run_id },
    banAgentRun: { agent_run_id: ids.run_id },
    unbanAgentRun: { agent_run_id: ids.run_id },
    removeAgentRunFromPr: { agent_run_id: ids.run_id },
    archiveAgentRun: { agent_run_id: ids.run_id },
    analyzeSandboxLogs: {},
    analyzeAgentRunLogs: {},
    analyzeLogs: {},
    generateSetupCommands: { repo_id: ids.repo_id },
    generateSlackToken: { org_id: ids.org_id },
    executeTool: { tool_name: 'shell', arguments: { command: 'ls' }, repo_id: ids.repo_id },
    unarchiveAgentRun: { agent_run_id: ids.run_id },
    mergePullRequest: { method: 'merge' },
    editPullRequest: { state: 'closed' },
    createPullRequestComment: { body: 'x' },
    updatePullRequestComment: { body: 'changed' },
    editRepositoryPullRequest: { state: 'open' },
    inviteMember: { email: 'new@example.org', role: 'READER' },
    acceptInvitation: { code: 'x' },
    updateMember: { role: 'ADMIN' },
    createServiceUser: { name: 'bot', role: 'READER' },
    createToken: { name: 'x' },
    authorizeOAuthClient: {
      client_id: registered_client,
      redirect_uri: 'http://127.0.0.1/x',
      scopes: ['runs:write'],
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
    },
  }
  const unnamed = {
    token_id: 424_242,
    service_user_id: 424_242,
    delivery_id: 424_242,
    comment_id: 424_242,
    environment_id: 424_242,
    sandbox_id: 424_242,
    invitation_id: 424_242,
    session_id: 'x',
    name: 'DEPLOY_KEY',
    provider: 'google',
    skill: 'release',
    server: 'tickets',
  }
  const named: Record<string, number | string> = { ...unnamed, ...ids, agent_run_id: ids.run_id }
  const queries: Partial<Record<EndpointName, string>> = {
    getCheckSuiteSettings: `repo_id=${ids.repo_id}`,
    updateCheckSuiteSettings: `repo_id=${ids.repo_id}`,
    disconnectGitHub: `url=${away.github}`,
    listGitHubRepositories: 'url=https://github.invalid',
    disconnectGitea: `url=${away.gitea}`,
    listGiteaRepositories: 'url=https://gitea.invalid',
    searchAgentRunLogs: 'q=x',
    getMessageImages: 'seq=1',
    getOAuthClient: `client_id=${registered_client}&redirect_uri=http://127.0.0.1/x`,
    getMcpSignIn: 'state=x',
    getGitHubApp: 'state=x',
    getAgentRunFile: 'path=README.md',
    downloadAgentRunFile: 'path=README.md',
    deleteModel: 'id=acme/coder',
    getOAuthStatus: `org_id=${ids.org_id}`,
    revokeOAuthToken: `org_id=${ids.org_id}&provider=x`,
  }
  const rows = Object.entries(endpoints) as [EndpointName, Endpoint][]
  return rows
    .filter(([, endpoint]) => endpoint.access === 'token')
    .map(([name, { method, path, body }]) => {
      if (body !== null && !bodies[name]) throw new Error(`say here what a good request of ${name} is`)
      const query = queries[name]
      return {
        name,
        method,
        path: filledPath(path, named) + (query === undefined ? '' : `?${query}`),
        body: bodies[name],
      }
    })
}

/** A path of the contract with its `{names}` filled in. */
export const filledPath = (path: string, values: Record<string, number | string>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (values[name] === undefined)
      throw new Error(`say in Ids, and make in addTenant, what {${name}} of ${path} is`)
    return `${values[name]}`
  })
