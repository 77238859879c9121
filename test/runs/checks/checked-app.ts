// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect } from 'vitest'
import { servePlain } from '../../egress/servers.ts'
import type { FakeResponse } from '../../model/fake-server.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, startCodingApp } from '../coding-app.ts'

/** The value of API_KEY, which agents have. */
export const SECRET = 'deploy-key-0123456789'

export type CheckedApp = CodingApp & {
  /** The replies of the model, in order; after the last one it changes nothing. */
  script: FakeResponse[]
  /** The responses of the server to the checks that call it, in order. */
  pending: (() => Promise<number> | number)[]
  /** Resets what the previous test set. */
  forget(): Promise<void>
  at(path: string): string
  /** Sets how failing checks are treated. */
  follow(settings: object): Promise<unknown>
  /** Sets the checks, by their names. */
  checkBy(commands: Record<string, string>, timeout_seconds?: number): Promise<void>
  /** A command that calls the server, and fails where the response requests it. */
  callCommand(): string
  /** Makes the next check that calls wait until the test opens it. */
  holdNext(status?: number): { reached: Promise<void>; open(): void }
  start(more?: Record<string, unknown>): Promise<number>
  /** The ended run, and the entries of its trace about checks. */
  seen(id: number): Promise<{ run: any; logs: any[]; detected: any[]; fixed: any[]; checks: any[]; pr: any }>
  pullRequestOf(run: any): Promise<any>
  /** The last message of each request to the model. */
  lastMessages(): string[]
}

/** The service with a model, a repository, and a server that checks can call. */
export async function startCheckedApp(): Promise<CheckedApp> {
  const stack = new AsyncDisposableStack()
  const server = stack.use(
    await servePlain(async (_request, response) => {
      response.statusCode = (await checked.pending.shift()?.()) ?? 200
      response.end('asked')
    }),
  )
  const next = () => checked.script.shift() ?? { text: 'Nothing to change.' }
  const app = stack.use(await startCodingApp(next, { AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' }))
  const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
  const follow = (settings: object) =>
    app.call('PUT', at(`/repos/check-suite-settings?repo_id=${app.repo_id}`), settings)
  const pullRequestOf = async (run: any) => {
    const [pr] = run.github_pull_requests
    return pr && (await app.call('GET', at(`/prs/${pr.id}`))).body
  }
  const checked: CheckedApp = {
    ...app,
    script: [],
    pending: [],
    at,
    follow,
    pullRequestOf,
    async forget() {
      checked.script = []
      checked.pending = []
      await app.call('PUT', at(`/repos/${app.repo_id}/setup-commands`), { commands: [] })
      await follow({
        check_retry_count: 3,
        ignored_checks: [],
        check_retry_counts: {},
        custom_prompts: {},
        high_priority_apps: [],
      })
    },
    async checkBy(commands, timeout_seconds = 60) {
      const checks = Object.entries(commands).map(([name, command]) => ({ name, command, timeout_seconds }))
      expect((await app.call('PUT', at(`/repos/${app.repo_id}/checks`), { checks })).status).toBe(200)
    },
    callCommand: () =>
      `env -u http_proxy curl --noproxy '' -fsS -m 60 -x http://127.0.0.1:3128 http://localhost:${server.port}/`,
    holdNext(status = 200) {
      const reached = Promise.withResolvers<void>()
      const passed = Promise.withResolvers<number>()
      checked.pending = [
        () => {
          reached.resolve()
          return passed.promise
        },
      ]
      return { reached: reached.promise, open: () => passed.resolve(status) }
    },
    start: async (more = {}) => (await createRun(app, { prompt: 'work', ...more })).id,
    async seen(id) {
      const run = await awaitEnd(app, id)
      const logs = await allLogs(app, id)
      const of = (type: string) =>
        logs.filter(entry => entry.message_type === type).map(entry => entry.observation)
      const checks = logs.filter(entry => entry.tool_name === 'check')
      return {
        run,
        logs,
        detected: of('DETECT_PR_ERRORS'),
        fixed: of('FIX_PR_ERRORS'),
        checks,
        pr: await pullRequestOf(run),
      }
    },
    lastMessages: () =>
      app.model.requests.map(({ body }) => JSON.stringify((body as { messages: unknown[] }).messages.at(-1))),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
  await app.call('PUT', at('/secrets/API_KEY'), { value: SECRET, for_agent: true })
  const allow = [{ host: 'localhost', port: server.port }]
  await app.call('PUT', at(`/repos/${app.repo_id}/egress`), { agent: { mode: 'allowlist', allow } })
  return checked
}
