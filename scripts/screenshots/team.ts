import { join } from 'node:path'
import { type Client, createClient } from '../../src/client/sdk/client.ts'
import type { Body } from '../../src/client/sdk/operations.ts'
import { pause } from '../../src/core/pause.ts'
import { OWNER } from './repositories.ts'
import { type PictureService, TOKEN } from './service.ts'
import { createRuns } from './team-runs.ts'

export type Team = Awaited<ReturnType<typeof createTeam>>

/** Builds a team with everything that its pages show, through the API as a client does. */
export async function createTeam(service: PictureService) {
  const ada = createClient({ base_url: service.address, token: TOKEN })
  await ada.call('updateMe', {
    body: {
      full_name: 'Ada Lindgren',
      custom_prompt: 'Answer briefly, and name the files that you changed.',
    },
  })
  const ben = await invite(service, ada, {
    email: 'ben@acme.example',
    full_name: 'Ben Okafor',
    role: 'MANAGER',
  })
  const chloe = await invite(service, ada, {
    email: 'chloe@acme.example',
    full_name: 'Chloé Marchand',
    role: 'MEMBER',
  })
  await invite(service, ada, { email: 'deniz@acme.example', full_name: 'Deniz Aydın', role: 'READER' })
  const { invitation_link } = await ada.call('inviteMember', {
    body: { email: 'eva@acme.example', full_name: 'Eva Horváth', role: 'MEMBER' },
  })
  const repositories = await addRepositories(ada, service.folder)
  await configure(ada, service.receiver, repositories.storefront)
  const runs = await createRuns({ ada, ben, chloe }, repositories)
  await addModels(ada)
  await addMcpServers(ada, repositories, service.sign_in_server)
  const pull_requests = await reviewPullRequests({ ada, ben }, runs)
  await ada.runs.archive((await ada.runs.analyze(runs.failed)).agent_run_id)
  const sandboxes = await ada.call('listSandboxes', { query: { limit: 100 } })
  const sandbox = sandboxes.items.find(({ agent_run_id }) => agent_run_id === runs.fixed)?.id
  const deliveries = await settledDeliveries(ada)
  const delivery = deliveries.items.find(
    ({ type, agent_run_id }) => type === 'agent_run.finished' && agent_run_id === runs.fixed,
  )?.id
  if (sandbox === undefined || delivery === undefined)
    throw new Error('the team has no sandbox or no delivery')
  const invitation_code = new URL(invitation_link).hash
  const sign_in_request = await signInRequest(service)
  const signInResponse = () => beginSignIn(ben, repositories.invoice)
  const gitHubResponse = () => beginGitHubApp(ada, ben)
  return {
    ada,
    repositories,
    runs,
    pull_requests,
    sandbox,
    delivery,
    invitation_code,
    sign_in_request,
    signInResponse,
    gitHubResponse,
  }
}

/** What a program that signs a person in passes to the page of the service. */
async function signInRequest(service: PictureService): Promise<string> {
  const redirect_uri = 'http://127.0.0.1:53682/callback'
  const registered = await fetch(`${service.address}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Claude Code', redirect_uris: [redirect_uri] }),
  })
  const { client_id } = (await registered.json()) as { client_id: string }
  const pkce = {
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }
  return `${new URLSearchParams({ response_type: 'code', client_id, redirect_uri, ...pkce })}`
}

/**
 * Begins a sign-in to an MCP server, which lasts ten minutes. Returns what the authorization server would
 * pass to the page of the service.
 */
async function beginSignIn(ben: Client, repo_id: number): Promise<string> {
  const { authorization_url } = await ben.call('startRepositoryMcpSignIn', {
    params: { repo_id, server: 'tracker' },
  })
  return `${new URLSearchParams({ state: new URL(authorization_url).searchParams.get('state') ?? '', code: 'c' })}`
}

/** The same for a GitHub App, which only administrators begin: Ben is one for this. */
async function beginGitHubApp(ada: Client, ben: Client): Promise<string> {
  const { id: user_id } = await ben.call('getMe', {})
  await ada.call('updateMember', { params: { user_id }, body: { role: 'ADMIN' } })
  const { open_url } = await ben.call('createGitHubApp', { body: { owner: 'acme', name: 'acme-agents' } })
  await ada.call('updateMember', { params: { user_id }, body: { role: 'MANAGER' } })
  return `${new URLSearchParams({ state: new URL(open_url).searchParams.get('state') ?? '', code: 'c' })}`
}

/** Adds a member, who accepts in a browser, and returns a client with the member's permissions. */
async function invite(service: PictureService, ada: Client, body: Body<'inviteMember'>): Promise<Client> {
  const { invitation_link } = await ada.call('inviteMember', { body })
  const code = new URL(invitation_link).hash.slice('#code='.length)
  const accepted = await fetch(`${service.address}/session/invitation/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code, account: 'new' }),
  })
  const [cookie = ''] = accepted.headers.getSetCookie()[0]?.split(';') ?? []
  const response = await fetch(`${service.address}/session/token`, { method: 'POST', headers: { cookie } })
  const { token } = (await response.json()) as { token: string }
  return createClient({ base_url: service.address, token })
}

async function addRepositories(ada: Client, folder: string) {
  const [invoice] = (await ada.call('listRepositories', {})).items
  if (!invoice) throw new Error('the first start registered no repository')
  const add = async (name: string, description: string) =>
    (
      await ada.call('createRepository', {
        body: { url: join(folder, OWNER, name), name, description, default_branch: 'main' },
      })
    ).id
  return {
    invoice: invoice.id,
    storefront: await add('storefront', 'The shop'),
    infrastructure: await add('infrastructure', 'Deployment of the shop'),
  }
}

async function configure(ada: Client, receiver: string, repo_id: number): Promise<void> {
  const params = { repo_id }
  const settings = { enable_pr_creation: true, enable_rules_detection: true }
  const rules = '- Write commit messages in the imperative.\n- Add a test for each change.'
  await ada.call('updateOrganization', {
    body: { settings, rules, budget_usd_per_month: 500, runs_per_month: 2000 },
  })
  await ada.call('setWebhook', { body: { url: receiver, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } })
  const secret = (name: string, for_agent = false) => ({
    params: { name },
    body: { value: `the value of ${name}`, for_agent },
  })
  await ada.call('setSecret', secret('NPM_TOKEN'))
  await ada.call('setSecret', secret('SENTRY_DSN', true))
  for (const [name, for_agent] of [['GIT_TOKEN'], ['STRIPE_TEST_KEY', true]] as const)
    await ada.call('setRepositorySecret', {
      params: { repo_id, name },
      body: { value: `the value of ${name}`, for_agent },
    })
  await ada.call('setEgress', {
    body: { agent: { mode: 'allowlist', allow: [{ host: 'docs.acme.example' }], presets: ['npm'] } },
  })
  await ada.call('setRepositoryEgress', {
    params,
    body: { agent: { mode: 'allowlist', allow: [{ host: 'api.stripe.com' }] } },
  })
  const variables = { NODE_ENV: 'test' }
  await ada.call('setSetupCommands', {
    params,
    body: { commands: ['mkdir -p node_modules', 'node --version'], variables },
  })
  const checks = [
    { name: 'test', command: 'node --test' },
    { name: 'lint', command: "! grep -rn TODO src || { echo 'error: no TODO may be left in src'; exit 1; }" },
  ]
  await ada.call('setCheckCommands', { params, body: { checks } })
  await ada.call('updateCheckSuiteSettings', {
    query: { repo_id },
    body: { check_retry_counts: { lint: 0 } },
  })
  for (const [name, description, text] of [
    ['release', 'Publishes a version of the shop.', 'Tag the commit, then write the change log.'],
    [
      'database-change',
      'Changes the schema of the shop without downtime.',
      'Add first, remove a release later.',
    ],
  ] as const)
    await ada.call('setSkill', {
      params: { skill: name },
      body: { content: `---\nname: ${name}\ndescription: ${description}\n---\n${text}\n` },
    })
  await ada.call('createServiceUser', { body: { name: 'CI', role: 'MEMBER' } })
  const scopes: Body<'createToken'>['scopes'] = ['runs:read', 'runs:write']
  await ada.call('createToken', { body: { name: 'Deploy pipeline', scopes, expires_in_seconds: 7_776_000 } })
  await ada.call('createToken', {
    body: { name: 'Dashboard', scopes: ['runs:read', 'logs:read'], repository_ids: [repo_id] },
  })
}

/** After the runs, which do not use them. */
async function addMcpServers(
  ada: Client,
  { storefront, invoice }: { storefront: number; invoice: number },
  tracker: string,
): Promise<void> {
  const url = 'https://mcp.tickets.example/mcp'
  const tools = ['search', 'comment']
  await ada.call('setMcpServer', {
    params: { server: 'tickets' },
    body: { url, credential: 'token-of-the-tickets-of-acme', tools },
  })
  await ada.call('setMcpServer', {
    params: { server: 'docs' },
    body: { url: 'https://docs.acme.example/mcp', enabled: false },
  })
  const command = { command: 'npx', args: ['-y', '@acme/postgres-mcp', '--read-only'] }
  await ada.call('setRepositoryMcpServer', {
    params: { repo_id: storefront, server: 'postgres' },
    body: command,
  })
  const sign_in = { client_id: null, issuer: null, scope: null }
  await ada.call('setRepositoryMcpServer', {
    params: { repo_id: invoice, server: 'tracker' },
    body: { url: `${tracker}/mcp`, sign_in },
  })
}

/** After the runs: with a model, the service would review their changes with it. */
async function addModels(ada: Client): Promise<void> {
  await ada.call('setModelProvider', {
    params: { provider: 'anthropic' },
    body: { api_key: 'sk-ant-the-key-of-acme-0123456789abcdef' },
  })
  const price = { input: '0.6', output: '2.4' }
  await ada.call('setModel', {
    body: {
      id: 'acme/coder',
      label: 'Acme Coder',
      api: 'openai-chat',
      base_url: 'https://models.acme.example/v1',
      context_tokens: 256_000,
      price,
    },
  })
}

/** Every event was sent at least once. */
async function settledDeliveries(ada: Client) {
  for (;;) {
    const deliveries = await ada.call('listWebhookDeliveries', { query: { limit: 100 } })
    if (deliveries.items.every(({ attempts }) => attempts > 0)) return deliveries
    await pause(200)
  }
}

/** Comments on one pull request and merges another. Returns the numbers of all by run. */
async function reviewPullRequests(
  { ada, ben }: { ada: Client; ben: Client },
  runs: Awaited<ReturnType<typeof createRuns>>,
) {
  const { items } = await ada.call('listPullRequests', { query: { limit: 100 } })
  const of = (agent_run_id: number) => {
    const found = items.find(item => item.agent_run_id === agent_run_id)?.id
    if (found === undefined) throw new Error(`run ${agent_run_id} has no pull request`)
    return found
  }
  const pr_id = of(runs.currency)
  const comment = (client: Client, body: Body<'createPullRequestComment'>) =>
    client.call('createPullRequestComment', { params: { pr_id }, body })
  await comment(ben, { body: 'Which currencies does the test cover?', path: 'test/money.test.js', line: 5 })
  await comment(ada, { body: 'Euros only. Yen have no decimals, so a case for them would be good.' })
  await ada.call('mergePullRequest', { params: { pr_id: of(runs.fixed) }, body: { method: 'squash' } })
  return {
    merged: of(runs.fixed),
    commented: pr_id,
    failing: of(runs.failing_check),
    all: items.map(({ id }) => id).sort((a, b) => a - b),
  }
}
