import { createHash, createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { startGitServer } from '../git/remotes/git-server.ts'
import { gitIn, makeRepository } from '../runs/coding-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { findOperation, requestMistakes, responseMistakes } from './description.ts'
import { type ForgeResponse, fakeOperations, fakeOwnOperations } from './fake-operations.ts'
import { FakeState } from './fake-state.ts'
import { publications, subjectOperations } from './fake-subjects.ts'

/** How a request fails: before it is executed, or after, so that its response is lost. */
export type Fault =
  | { kind: 'hang_up'; when: 'before' | 'after' }
  | { kind: 'status'; status: number }
  | { kind: 'primary_limit'; seconds: number }
  | { kind: 'secondary_limit'; seconds: number }
  | { kind: 'redirect'; to: string }
  /** Executed, but responded to only after `until` resolves. */
  | { kind: 'hold'; until: Promise<unknown> }
  /** Something else happens first. */
  | { kind: 'after'; work: () => unknown }
  /** A proxy or another server responds. */
  | { kind: 'other'; type: string; text: string }
  | { kind: 'graphql'; errors: { type?: string; message: string }[] }

export type FakeGitHub = AsyncDisposable & {
  /** Where people and git find it. */
  url: string
  /** The bare repository of acme/app. */
  folder: string
  state: FakeState
  token: string
  app: { id: number; slug: string; private_key: string }
  /** Every request for the API, in order: operation of the description and status. */
  requests: { name: string; status: number | null; authorization: string }[]
  /**
   * What the description does not allow, in requests and in our own responses. Nothing, in a test that holds.
   */
  mistakes: string[]
  /** Plays faults on the next requests of an operation, one each. */
  play(name: string, ...faults: Fault[]): void
  /** Resolves when an operation is requested the next time, before the response. */
  requestOf(name: string): Promise<void>
  /** Revokes all tokens of installations. */
  revokeTokens(): void
  count(name: string): number
  /** How many requests count against the rate limit: all but those that GitHub confirmed as unchanged. */
  charged(): string[]
}

/** As long as those of GitHub. */
const TOKEN_MS = 60 * 60_000

/**
 * A GitHub with one repository. It takes no request and gives no response that GitHub's published description
 * does not allow.
 */
export async function startFakeGitHub({
  token_ms = TOKEN_MS,
}: {
  token_ms?: number
} = {}): Promise<FakeGitHub> {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const bare = join(folder.path, 'acme', 'app.git')
  gitIn(folder.path, 'clone', '--quiet', '--bare', makeRepository(), bare)
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const app = {
    id: 4_711,
    slug: 'careful-agent',
    private_key: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
  }
  const token = `ghp_${randomBytes(18).toString('hex')}`
  const installed = new Map<string, number>()
  const faults = new Map<string, Fault[]>()
  const waiting = new Map<string, (() => void)[]>()
  const requests: FakeGitHub['requests'] = []
  const mistakes: string[] = []

  const loginOf = (given: string): string | null => {
    if (given === token) return 'agent-bot'
    const until = installed.get(given)
    return until !== undefined && until > Date.now() ? `${app.slug}[bot]` : null
  }
  const issue = () => {
    const created = `ghs_${randomBytes(18).toString('hex')}`
    const until = Date.now() + token_ms
    installed.set(created, until)
    return { token: created, expires_at: new Date(until).toISOString() }
  }

  /** Whether it is a token that the app itself has signed, and no older than GitHub takes. */
  const isApp = (jwt: string): boolean => {
    const [head = '', claims = '', signature = ''] = jwt.split('.')
    if (
      !verify(
        'RSA-SHA256',
        Buffer.from(`${head}.${claims}`),
        createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
        Buffer.from(signature, 'base64url'),
      )
    )
      return false
    const { iss, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as {
      iss: number | string
      exp: number
      iat: number
    }
    const now = Date.now() / 1_000
    return String(iss) === String(app.id) && exp > now && exp - iat <= 660 && iat <= now
  }

  async function respondToApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x')
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString('utf8')
    const authorization = (request.headers.authorization ?? '').replace(/^(token|bearer)\s+/i, '')
    const found =
      url.pathname === '/api/graphql'
        ? null
        : findOperation(request.method ?? '', url.pathname.replace(/^\/api\/v3/, ''))
    const name =
      url.pathname === '/api/graphql' ? 'POST /graphql' : (found?.name ?? `${request.method} ${url.pathname}`)
    const seen: FakeGitHub['requests'][number] = { name, status: null, authorization }
    requests.push(seen)
    for (const notify of waiting.get(name) ?? []) notify()
    waiting.delete(name)

    const send = (responded: ForgeResponse, headers: Record<string, string> = {}) => {
      seen.status = responded.status
      if (found) mistakes.push(...responseMistakes(found, responded.status, responded.body))
      const limits = {
        'x-ratelimit-limit': '5000',
        'x-ratelimit-remaining': '4999',
        'x-ratelimit-reset': String(Math.floor(Date.now() / 1_000) + 3_600),
      }
      const etag = `W/"${createHash('sha256')
        .update(JSON.stringify([responded.body, responded.link]))
        .digest('hex')}"`
      const readable = request.method === 'GET' && responded.status === 200
      if (readable && request.headers['if-none-match'] === etag) {
        seen.status = 304
        return void response.writeHead(304, { ...limits, etag }).end()
      }
      response.writeHead(responded.status, {
        ...(readable && { etag }),
        'content-type': 'application/json; charset=utf-8',
        ...limits,
        'x-github-request-id': randomBytes(8).toString('hex'),
        ...(responded.link && { link: responded.link }),
        ...(state.clock && { date: new Date(state.clock).toUTCString() }),
        ...headers,
      })
      response.end(responded.status === 204 ? undefined : JSON.stringify(responded.body))
    }
    const refuse = (status: number, message: string, headers?: Record<string, string>) =>
      send({ status, body: { message, documentation_url: 'https://docs.github.com/rest' } }, headers)

    if (request.headers['x-github-api-version'] !== '2022-11-28')
      mistakes.push(`${name}: no version of the API`)
    const fault = faults.get(name)?.shift()
    if (fault?.kind === 'hang_up' && fault.when === 'before') return void request.socket.destroy()
    if (fault?.kind === 'status')
      return refuse(fault.status, fault.status === 401 ? 'Bad credentials' : 'Server Error')
    if (fault?.kind === 'redirect') return refuse(307, 'Moved Permanently', { location: fault.to })
    if (fault?.kind === 'other')
      return void response.writeHead(200, { 'content-type': fault.type }).end(fault.text)
    if (fault?.kind === 'primary_limit') {
      const reset = Math.floor(Date.now() / 1_000) + fault.seconds
      return refuse(403, 'API rate limit exceeded for user ID 1.', {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(reset),
      })
    }
    if (fault?.kind === 'secondary_limit')
      return refuse(
        403,
        'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
        {
          'retry-after': String(fault.seconds),
        },
      )

    if (!request.headers['user-agent'])
      return refuse(
        403,
        'Request forbidden by administrative rules. Please make sure your request has a User-Agent header',
      )
    const as_app =
      name.startsWith('GET /app') || name.startsWith('POST /app/') || name.endsWith('/installation')
    const login = as_app ? (isApp(authorization) ? app.slug : null) : loginOf(authorization)
    const open = name.startsWith('POST /app-manifests/')
    if (login === null && !open) return refuse(401, 'Bad credentials')
    if (fault?.kind === 'after') fault.work()
    if (state.refused.has(name)) return refuse(403, 'Resource not accessible by personal access token')
    if (fault?.kind === 'graphql') return send({ status: 200, body: { data: null, errors: fault.errors } })
    const responded = name === 'POST /graphql' ? graphql(text) : rest(found, url, text, login ?? '')
    if (fault?.kind === 'hang_up') return void request.socket.destroy()
    if (fault?.kind === 'hold') await fault.until
    if (typeof responded === 'string') {
      mistakes.push(responded)
      return refuse(404, 'Not Found')
    }
    send(responded)
  }

  /** A text describes the error of the request. */
  function rest(
    found: ReturnType<typeof findOperation>,
    url: URL,
    text: string,
    login: string,
  ): ForgeResponse | string {
    if (!found) return `no operation for ${url.pathname}`
    const body = text === '' ? undefined : (JSON.parse(text) as unknown)
    mistakes.push(...requestMistakes(found, url.searchParams, body))
    const { owner, repo } = found.params
    if (owner !== undefined && (owner !== state.owner || repo !== state.repo))
      return {
        status: 404,
        body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest', status: '404' },
      }
    const operation = operations[found.name]
    return operation
      ? operation({ params: found.params, query: url.searchParams, body, login })
      : `${found.name} is not played here`
  }

  /** What the service knows, to the letter. */
  function graphql(text: string): ForgeResponse | string {
    const { query, variables } = JSON.parse(text) as {
      query: string
      variables: { id?: string; ids?: string[] }
    }
    const read = publications(state, query, variables)
    if (read) return read
    const [, mutation] =
      /^mutation\(\$id: ID!\) \{ (convertPullRequestToDraft|markPullRequestReadyForReview)\(input: \{ pullRequestId: \$id \}\) \{ pullRequest \{ isDraft \} \} \}$/.exec(
        query,
      ) ?? []
    const pull = state.pulls.find(({ number }) => `PR_${number}` === variables.id)
    if (!mutation || !pull) return `graphql: ${text}`
    pull.draft = mutation === 'convertPullRequestToDraft'
    return { status: 200, body: { data: { [mutation]: { pullRequest: { isDraft: pull.draft } } } } }
  }

  const server = stack.use(
    await startGitServer(folder.path, (request, response) => {
      if (request.url?.startsWith('/api/')) {
        respondToApi(request, response).catch(error => {
          mistakes.push(String(error))
          request.socket.destroy()
        })
        return true
      }
      const [, basic = ''] = (request.headers.authorization ?? '').split(' ')
      const [user, password = ''] = Buffer.from(basic, 'base64').toString().split(':')
      if (user === 'x-access-token' && loginOf(password) !== null) return false
      response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end()
      return true
    }),
  )
  const state = new FakeState({ owner: 'acme', repo: 'app', folder: bare, origin: server.url })
  const operations = {
    ...fakeOperations(state),
    ...subjectOperations(state),
    ...fakeOwnOperations(state, app, issue),
  }
  return {
    url: server.url,
    folder: bare,
    state,
    token,
    app,
    requests,
    mistakes,
    play: (name, ...list) => void faults.set(name, [...(faults.get(name) ?? []), ...list]),
    requestOf: name => new Promise(resolve => waiting.set(name, [...(waiting.get(name) ?? []), resolve])),
    revokeTokens: () => installed.clear(),
    count: name => requests.filter(request => request.name === name).length,
    charged: () => requests.filter(({ status }) => status !== 304).map(({ name }) => name),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
