// biome-ignore-all lint/suspicious/noExplicitAny: responses are read without types
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { StatusReason } from '../../../src/contract/runs/runs.ts'
import { programEnv } from '../../agents/program-app.ts'
import { connectFake } from '../../forge/connect.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import type { FakeReply, FakeScript } from '../../model/fake-server.ts'
import { awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, gitIn, makeRepository, shell, startCodingApp } from '../coding-app.ts'

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

const bodyFor = (name: string) =>
  JSON.stringify({ model: 'fake', stream: true, messages: [{ role: 'user', content: `end: ${name}` }] })
/** A program's call of the model, which fails as `name` requires. */
const callFor = (name: string) => `call text ${bodyFor(name)}`
const ABORTED = `call abort ${bodyFor('hang')} | say API Error: Request was aborted.`

/** A repository with a submodule, which a clone does not check out. */
function withSubmodule(): string {
  const folder = makeRepository({
    '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = https://example.org/lib.git\n',
  })
  const sha = gitIn(folder, 'rev-parse', 'HEAD').trim()
  gitIn(folder, 'update-index', '--add', '--cacheinfo', `160000,${sha},lib`)
  gitIn(folder, 'commit', '--quiet', '-m', 'add lib')
  return folder
}

/** Removes the folders of an ended run, as on a machine that was replaced. */
function removeWorkspace(app: CodingApp, id: number): void {
  const folder = join(app.data_dir, 'workspaces')
  const own = readdirSync(folder).filter(name => name.startsWith(`${id}-`))
  if (own.length === 0) throw new Error('the run has no workspace')
  for (const name of own) rmSync(join(folder, name), { recursive: true })
}

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
    name: 'only_submodule',
    status: 'completed',
    status_reason: 'no_effect',
    start: async ({ app }) =>
      started(app, 'only_submodule', { repo_id: await ownRepository(app, withSubmodule()) }),
  },
  {
    name: 'only_marked',
    status: 'completed',
    status_reason: 'no_effect',
    start: ({ app }) => started(app, 'only_marked'),
  },
  {
    name: 'question about a workspace with a change that is not committed',
    status: 'completed',
    status_reason: null,
    async start({ app }) {
      const repo_id = await ownRepository(app, withSubmodule())
      const commands = ['mkdir -p lib && echo built >lib/built']
      await put(app, `/repos/${repo_id}/setup-commands`, { commands })
      return started(app, 'question', { repo_id })
    },
  },
  {
    name: 'work_lost',
    status: 'completed',
    status_reason: 'work_lost',
    async start({ app }) {
      const id = await started(app, 'work_lost')
      await awaitEnd(app, id)
      removeWorkspace(app, id)
      return (await post(app, `/agent/run/${id}/resume`, { prompt: 'end: done' })).id
    },
  },
  {
    name: 'program, a read and an aborted call',
    status: 'completed',
    status_reason: 'no_effect',
    start: byProgram('done', `${callFor('done')} | read a.txt | ${ABORTED}`),
  },
  {
    name: 'program, a read alone',
    status: 'completed',
    status_reason: 'no_effect',
    start: byProgram('done', 'read a.txt | say Invalid API key.'),
  },
  {
    name: 'program, work and an aborted call',
    status: 'completed',
    status_reason: 'last_response_missing',
    start: byProgram('done', `${callFor('done')} | tool echo two >> count.js | ${ABORTED}`),
  },
  {
    name: 'program, an aborted call that is repeated',
    status: 'completed',
    status_reason: null,
    start: byProgram('done', `tool echo two >> count.js | ${ABORTED} | ${callFor('done')} | say Done.`),
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
  only_submodule: 'mkdir -p lib/src; echo fix >lib/src/fix',
  only_marked: 'git update-index --assume-unchanged count.js; echo two >> count.js',
  question: 'cat README.md lib/built',
  work_lost: 'head -c 2000000 /dev/urandom >large',
  review_failed: `printf '<<<<<<< a\\n1\\n=======\\n2\\n>>>>>>> b\\n' >> count.js`,
}
const FAILURES: Record<string, FakeReply> = {
  error: { status: 500, body: { error: { message: 'It is broken.' } } },
  auth: { status: 401, body: { error: { message: 'Wrong key.' } } },
  refusal: { refusal: 'I will not.' },
  hang: { raw: ['data: {"choices":[{"index":0,"delta":{"content":"One"}}]}\n\n'], after: 'stall' },
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
  AGENTRUN_CHECKPOINT_PACK_MAX_BYTES: '1000000',
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
