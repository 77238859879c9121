import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startFakeOpenAI } from '../model/fake-openai.ts'
import type { FakeResponse, FakeScript, FakeServer } from '../model/fake-server.ts'
import { type App, startApp } from '../start-app.ts'
import { testFolder } from '../temporary-folder.ts'

export type CodingApp = App & { model: FakeServer; repository: string; git(...args: string[]): string }

/** The service with a model server that plays `script`, and a default repository. */
export async function startCodingApp(
  script: FakeScript,
  env: Record<string, string> = {},
  repository = makeRepository(),
  options: Parameters<typeof startApp>[1] = {},
): Promise<CodingApp> {
  await using stack = new AsyncDisposableStack()
  const model = stack.use(await startFakeOpenAI(script))
  const app = stack.use(
    await startApp(
      {
        OPENAI_COMPATIBLE_BASE_URL: model.base_url,
        OPENAI_COMPATIBLE_API_KEY: 'key-of-the-model-server',
        AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
        ...pricedProvider(model),
        AGENTRUN_INIT_REPO_URL: repository,
        ...env,
      },
      options,
    ),
  )
  const git = (...args: string[]) => gitIn(repository, ...args)
  const running = stack.move()
  return { ...app, model, repository, git, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** A model with a known price, in US dollars per token: the same server instead of its provider. */
export const PRICED = { model: 'openai/gpt-5.4-mini', input: 0.75e-6, output: 4.5e-6 }
export const pricedProvider = (model: FakeServer & { base_url: string }) => ({
  OPENAI_API_KEY: 'key-of-the-provider',
  OPENAI_BASE_URL: model.base_url,
})

const built = new Map<string, string>()

/**
 * A repository with a few files and several commits, as on a developer's machine: not bare, `main` checked
 * out. It is removed at the end of the test run. A copy, because each fork of a test process takes 10 ms.
 */
export function makeRepository(
  files: Record<string, string | Uint8Array> = {
    'README.md': '# Counter\n',
    'count.js': 'export const one = 1\n',
    'AGENTS.md': 'Be brief.\n',
  },
): string {
  const key = JSON.stringify(files)
  const original = built.get(key) ?? buildRepository(files)
  built.set(key, original)
  const folder = testFolder()
  cpSync(original, folder, { recursive: true })
  return folder
}

function buildRepository(files: Record<string, string | Uint8Array>): string {
  const folder = testFolder()
  gitIn(folder, 'init', '--quiet', '--initial-branch=main')
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
    gitIn(folder, 'add', '.')
    gitIn(folder, 'commit', '--quiet', '-m', `add ${name}`)
  }
  return folder
}

export function gitIn(folder: string, ...args: string[]): string {
  const identity = {
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.org',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.org',
  }
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    ...identity,
  }
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' })
}

/**
 * A script that gives one response after the other. A text at its end is repeated, because text before any
 * tool call does not end a run.
 */
export const responses =
  (...list: FakeResponse[]): FakeScript =>
  (_request, n) => {
    const last = list.at(-1)
    return (
      list[n] ??
      (last?.text !== undefined && !last.tool_calls
        ? last
        : { text: 'There is nothing more in this script.' })
    )
  }

export const calls = (
  ...tool_calls: { name: string; arguments: Record<string, unknown> | string }[]
): FakeResponse => ({ tool_calls })
/** A response that ends the turn, whether tools were called before or not. */
export const finish = (response: string): FakeResponse =>
  calls({ name: 'finish', arguments: { answer: response } })
export const shell = (command: string, timeout_seconds?: number) => ({
  name: 'shell',
  arguments: { command, ...(timeout_seconds && { timeout_seconds }) },
})
