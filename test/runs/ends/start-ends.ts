// biome-ignore-all lint/suspicious/noExplicitAny: responses are read without types
import { chmodSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { StatusReason } from '../../../src/contract/runs/runs.ts'
import { programEnv } from '../../agents/program-app.ts'
import { connectFake } from '../../forge/connect.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import type { FakeReply, FakeScript } from '../../model/fake-server.ts'
import { awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, makeRepository, shell, startCodingApp } from '../coding-app.ts'

/** An end of a run, and how to bring it about. `start` returns the id of the run. */
type End = {
  name: string
  status: 'completed' | 'failed' | 'cancelled'
  status_reason: StatusReason | null
  /** These share one forge, so they happen one after the other. */
  on_forge?: true
  start(world: World): Promise<number>
}

type World = { app: CodingApp; github: FakeGitHub; github_repo_id: number }
type Change = { repo_id?: number; agent_type?: string; prompt?: string }

const at = (app: CodingApp, path: string) => `/v1/organizations/${app.org_id}${path}`

async function post(app: CodingApp, path: string, body: object): Promise<any> {
  const response = await app.call('POST', at(app, path), body)
  if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(response.body)}`)
  return response.body
}

async function put(app: CodingApp, path: string, body: object): Promise<void> {
  const response = await app.call('PUT', at(app, path), body)
  if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(response.body)}`)
}

async function ownRepository(app: CodingApp, folder = makeRepository()): Promise<number> {
  return (await post(app, '/repos', { url: folder, full_name: `ends/${basename(folder)}` })).id
}

/** Starts a run whose prompt names its end to the model. */
const started = async (app: CodingApp, name: string, more: Change = {}): Promise<number> =>
  (await createRun(app, { prompt: `end: ${name}`, title: `End ${name}`, ...more })).id

const CREATE_PULL = 'POST /repos/{owner}/{repo}/pulls'

function addCheck(
  github: FakeGitHub,
  branch: string,
  check: { status: string; conclusion: string | null },
): void {
  const sha = github.state.sha(branch)
  if (sha === null) throw new Error('the branch is not on the forge')
  github.state.checks.push({
    sha,
    name: 'build',
    app: 'github-actions',
    summary: '',
    ...check,
  } as (typeof github.state.checks)[number])
}

const byProgram = (name: string, steps: string) => (world: World) =>
  started(world.app, name, { agent_type: 'program', prompt: `end: ${name}\ndo: ${steps}` })

/** A program's call of the model, which fails as `name` requires. */
const callFor = (name: string) =>
  `call text ${JSON.stringify({ model: 'fake', messages: [{ role: 'user', content: `end: ${name}` }] })}`

/** Every kind of end. The forge refuses all pull requests from `pull_request_refused` on. */
export const ends: readonly End[] = [
  { name: 'done', status: 'completed', status_reason: null, start: ({ app }) => started(app, 'done') },
  {
    name: 'push_refused',
    status: 'completed',
    status_reason: 'push_refused',
    async start({ app }) {
      const folder = makeRepository()
      const hook = join(folder, '.git/hooks/pre-receive')
      writeFileSync(hook, '#!/bin/sh\necho "quota used up"; exit 1\n')
      chmodSync(hook, 0o755)
      return started(app, 'push_refused', { repo_id: await ownRepository(app, folder) })
    },
  },
  {
    name: 'checks_failed',
    status: 'completed',
    status_reason: 'checks_failed',
    async start({ app }) {
      const repo_id = await ownRepository(app)
      await put(app, `/repos/${repo_id}/checks`, {
        checks: [{ name: 'test', command: 'exit 1', timeout_seconds: 60 }],
      })
      await put(app, `/repos/check-suite-settings?repo_id=${repo_id}`, { check_retry_count: 0 })
      return started(app, 'checks_failed', { repo_id })
    },
  },
  {
    name: 'checks_unfinished',
    status: 'completed',
    status_reason: 'checks_unfinished',
    on_forge: true,
    // The check is there before the run reads its checks, so that the run does not wait for a first one.
    async start({ app, github, github_repo_id }) {
      const { promise, resolve } = Promise.withResolvers<void>()
      github.play(CREATE_PULL, { kind: 'hold', until: promise })
      const proposed = github.requestOf(CREATE_PULL)
      const id = await started(app, 'checks_unfinished', { repo_id: github_repo_id })
      await proposed
      const { branch } = await awaitRun(app, id, run => run.branch !== null)
      addCheck(github, branch, { status: 'in_progress', conclusion: null })
      resolve()
      return id
    },
  },
  {
    name: 'pull_request_refused',
    status: 'completed',
    status_reason: 'pull_request_refused',
    on_forge: true,
    async start({ app, github, github_repo_id }) {
      // It is tried again after the wait for checks.
      for (let i = 0; i < 9; i++) github.play(CREATE_PULL, { kind: 'status', status: 403 })
      const id = await started(app, 'pull_request_refused', { repo_id: github_repo_id })
      const run = await awaitRun(
        app,
        id,
        ({ status, waiting_on }) => status === 'waiting' && waiting_on === 'ci',
      )
      addCheck(github, run.branch, { status: 'completed', conclusion: 'success' })
      return id
    },
  },
  {
    name: 'review_failed',
    status: 'completed',
    status_reason: 'review_failed',
    start: ({ app }) => started(app, 'review_failed'),
  },
  {
    name: 'setup_failed',
    status: 'completed',
    status_reason: 'setup_failed',
    async start({ app }) {
      const repo_id = await ownRepository(app)
      await put(app, `/repos/${repo_id}/setup-commands`, { commands: ['exit 3'], on_failure: 'continue' })
      return started(app, 'setup_failed', { repo_id })
    },
  },
  {
    name: 'setup_failed of a run',
    status: 'failed',
    status_reason: 'setup_failed',
    async start({ app }) {
      const repo_id = await ownRepository(app)
      await put(app, `/repos/${repo_id}/setup-commands`, { commands: ['exit 3'] })
      return started(app, 'setup_failed', { repo_id })
    },
  },
  {
    name: 'setup_unverified',
    status: 'completed',
    status_reason: 'setup_unverified',
    start: async ({ app }) =>
      (
        await post(app, '/setup-commands/generate', {
          repo_id: await ownRepository(app, makeRepository({ 'notes.txt': 'Nothing.\n' })),
        })
      ).agent_run_id,
  },
  {
    name: 'tool_failed',
    status: 'completed',
    status_reason: 'tool_failed',
    start: async ({ app }) =>
      (await post(app, '/tools/execute', { tool_name: 'read', arguments: { path: 'missing.txt' } }))
        .agent_run_id,
  },
  {
    name: 'explanation_failed',
    status: 'completed',
    status_reason: 'explanation_failed',
    async start({ app }) {
      const id = await started(app, 'refusal')
      await awaitEnd(app, id)
      return (await post(app, `/agent/run/${id}/analyze-logs`, {})).agent_run_id
    },
  },
  {
    name: 'no_effect',
    status: 'completed',
    status_reason: 'no_effect',
    start: byProgram('no_effect', 'plan Nothing'),
  },
  {
    name: 'program, error as answer without a call',
    status: 'completed',
    status_reason: 'no_effect',
    start: byProgram('done', 'say Invalid API key. Please run /login'),
  },
  {
    name: 'program, model unavailable',
    status: 'failed',
    status_reason: 'model_unavailable',
    start: byProgram('done', callFor('error')),
  },
  {
    name: 'program, model unavailable, reported as text',
    status: 'failed',
    status_reason: 'model_unavailable',
    start: byProgram('done', `tool true | ${callFor('error')} | say API Error: 500`),
  },
  {
    name: 'program, key refused',
    status: 'failed',
    status_reason: 'model_auth',
    start: byProgram('done', `${callFor('auth')} | say Please log in.`),
  },
  {
    name: 'program, refused by the gateway',
    status: 'failed',
    status_reason: 'agent_error',
    start: byProgram('done', 'call model other | say API Error: 404'),
  },
  {
    name: 'program, silent work',
    status: 'completed',
    status_reason: null,
    start: byProgram('done', 'tool echo two >> count.js'),
  },
  {
    name: 'failed',
    status: 'failed',
    status_reason: 'agent_error',
    start: ({ app }) => started(app, 'refusal'),
  },
]

const COMMANDS: Record<string, string> = {
  review_failed: `printf '<<<<<<< a\\n1\\n=======\\n2\\n>>>>>>> b\\n' >> count.js`,
}
const FAILURES: Record<string, FakeReply> = {
  error: { status: 500, body: { error: { message: 'It is broken.' } } },
  auth: { status: 401, body: { error: { message: 'Wrong key.' } } },
  refusal: { refusal: 'I will not.' },
}

/** The model changes a file and answers; where an end is named, it fails as that requires. */
const script: FakeScript = ({ body }) => {
  const messages = body.messages as { role: string }[]
  const tools = (body.tools ?? []) as unknown[]
  // A question of an analysis.
  if (tools.length === 1) return { text: 'I do not know.' }
  const name = /end: (\w+)/.exec(JSON.stringify(messages))?.[1] ?? ''
  if (FAILURES[name]) return FAILURES[name]
  return messages.at(-1)?.role === 'user' && tools.length > 0
    ? calls(shell(COMMANDS[name] ?? 'echo two >> count.js'))
    : { text: 'Done.' }
}

const env = {
  AGENTRUN_ALLOW_PRIVATE_GIT: '1',
  AGENTRUN_ALLOW_PRIVATE_EGRESS: '1',
  AGENTRUN_REPO_PATHS: tmpdir(),
  AGENTRUN_CI_POLL_SECONDS: '1',
  AGENTRUN_CI_WAIT_SECONDS: '1',
}

export type EndedApp = CodingApp & {
  github: FakeGitHub
  /** The ended runs, by the name of their end. */
  runs: Map<string, any>
}

/** A service, to which `prepare` may add something before the runs, in which every end has happened. */
export async function startEnds(
  prepare: (app: CodingApp) => Promise<void> = async () => {},
): Promise<EndedApp> {
  await using stack = new AsyncDisposableStack()
  const github = stack.use(await startFakeGitHub())
  const app = stack.use(await startCodingApp(script, { ...programEnv(), ...env }))
  await prepare(app)
  const world = { app, github, github_repo_id: await connectFake(app, github) }
  const runs = new Map<string, any>()
  const happen = async ({ name, start }: End) => runs.set(name, await awaitEnd(app, await start(world)))
  const onOneForge = async () => {
    for (const end of ends.filter(end => end.on_forge)) await happen(end)
  }
  await Promise.all([onOneForge(), ...ends.filter(end => !end.on_forge).map(happen)])
  const running = stack.move()
  return { ...app, github, runs, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
