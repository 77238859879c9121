import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { startGitServer } from '../git/remotes/git-server.ts'
import { gitIn, makeRepository } from '../runs/coding-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { FakeState } from './fake-state.ts'
import { findGiteaOperation, giteaRequestMistakes, giteaResponseMistakes } from './gitea-description.ts'
import { giteaOperations } from './gitea-operations.ts'
import type { GiteaResponse, GiteaSet } from './gitea-wire.ts'

/** How a request fails: before it is executed, or after, so that its response is lost. */
export type GiteaFault =
  | { kind: 'hang_up'; when: 'before' | 'after' }
  | { kind: 'status'; status: number; retry_after?: number; message?: string }
  | { kind: 'redirect'; to: string }
  /** A proxy that responds in its name. */
  | { kind: 'page'; status: number }

export type FakeGitea = AsyncDisposable & {
  /** Where people and git find it: below a path. */
  url: string
  /** The bare repository of acme/app. */
  folder: string
  state: FakeState
  set: GiteaSet
  token: string
  requests: { name: string; status: number | null }[]
  /**
   * What the description does not allow, in requests and in our own responses. Nothing, in a test that holds.
   */
  mistakes: string[]
  /** Plays faults on the next requests of an operation, one each. */
  play(name: string, ...faults: GiteaFault[]): void
  count(name: string): number
}

const PATH = '/gitea'
export const BOT = 'agent-bot'

/**
 * A Gitea with one repository, below a path. It takes no request and gives no response that is not as Gitea's
 * API is published.
 */
export async function startFakeGitea(): Promise<FakeGitea> {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const bare = join(folder.path, PATH, 'acme', 'app.git')
  gitIn(folder.path, 'clone', '--quiet', '--bare', makeRepository(), bare)
  const token = randomBytes(20).toString('hex')
  const faults = new Map<string, GiteaFault[]>()
  const requests: FakeGitea['requests'] = []
  const mistakes: string[] = []
  const set: GiteaSet = {
    reports_draft: true,
    is_repository_admin: true,
    most_per_page: 50,
    counts_by: 'link',
  }

  async function respondToApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x')
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString('utf8')
    const found = findGiteaOperation(request.method ?? '', url.pathname.slice(`${PATH}/api/v1`.length))
    const seen: FakeGitea['requests'][number] = {
      name: found?.name ?? `${request.method} ${url.pathname}`,
      status: null,
    }
    requests.push(seen)
    const send = ({ status, body, headers = {} }: GiteaResponse) => {
      seen.status = status
      if (found) mistakes.push(...giteaResponseMistakes(found, status, body))
      const date = state.clock && { date: new Date(state.clock).toUTCString() }
      response.writeHead(status, { 'content-type': 'application/json;charset=utf-8', ...date, ...headers })
      response.end(body === undefined ? '' : JSON.stringify(body))
    }
    const refuse = (status: number, message: string, headers?: Record<string, string>) =>
      send({
        status,
        body: { message, url: `${server.url}${PATH}/api/swagger` },
        ...(headers && { headers }),
      })

    const fault = faults.get(seen.name)?.shift()
    if (fault?.kind === 'hang_up' && fault.when === 'before') return void request.socket.destroy()
    if (fault?.kind === 'redirect') return void response.writeHead(307, { location: fault.to }).end()
    if (fault?.kind === 'page')
      return void response
        .writeHead(fault.status, { 'content-type': 'text/html' })
        .end('<html>Bad Gateway</html>')
    if (fault?.kind === 'status')
      return refuse(
        fault.status,
        fault.message ?? 'played',
        fault.retry_after ? { 'retry-after': String(fault.retry_after) } : {},
      )

    if (request.headers.authorization !== `token ${token}`)
      return refuse(401, 'invalid username, password or token')
    if (!found) {
      mistakes.push(`no operation for ${seen.name}`)
      return refuse(404, 'page not found')
    }
    if (!request.headers['user-agent'] || request.headers.accept !== 'application/json')
      mistakes.push(`${seen.name}: headers are missing`)
    if (text !== '' && request.headers['content-type'] !== 'application/json')
      mistakes.push(`${seen.name}: the body is not declared as JSON`)
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    mistakes.push(...giteaRequestMistakes(found, url.searchParams, body))
    if (state.refused.has(found.name))
      return refuse(403, 'token does not have at least one of required scope(s): [read:repository]')
    const { owner, repo } = found.params
    if (owner !== undefined && (owner !== state.owner || repo !== state.repo))
      return refuse(404, "The target couldn't be found.")
    const operation = operations[found.name]
    if (!operation) throw new Error(`${found.name} is not played here`)
    const responded = operation({ params: found.params, query: url.searchParams, body })
    if (fault?.kind === 'hang_up') return void request.socket.destroy()
    send(responded)
  }

  const server = stack.use(
    await startGitServer(folder.path, (request, response) => {
      if (request.url?.startsWith(`${PATH}/api/v1/`)) {
        respondToApi(request, response).catch(error => {
          mistakes.push(String(error))
          request.socket.destroy()
        })
        return true
      }
      const [, basic = ''] = (request.headers.authorization ?? '').split(' ')
      if (Buffer.from(basic, 'base64').toString() === `${BOT}:${token}`) return false
      response.writeHead(401, { 'www-authenticate': 'Basic realm="Gitea"' }).end()
      return true
    }),
  )
  const url = `${server.url}${PATH}`
  const state = new FakeState({ owner: 'acme', repo: 'app', folder: bare, origin: url })
  const operations = giteaOperations(state, set)
  return {
    url,
    folder: bare,
    state,
    set,
    token,
    requests,
    mistakes,
    play: (name, ...list) => void faults.set(name, [...(faults.get(name) ?? []), ...list]),
    count: name => requests.filter(request => request.name === name).length,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
