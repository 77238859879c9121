import { openGitHost } from '../git/git-host.ts'
import { Hub } from '../live/hub.ts'
import { Listener } from '../live/listener.ts'
import { Database } from '../store/database.ts'
import { type RunningApi, startApi } from './api.ts'
import { modelsOf } from './models.ts'
import type { Parts, ServiceInput } from './parts.ts'
import { createWorker } from './worker.ts'

export type RunningService = AsyncDisposable & {
  /** Null in a process that only works on runs. */
  api: RunningApi | null
  /** Why this process starts no run; null when it does, or when that is not what it is for. */
  blocked(): string | null
}

/** Puts one process of the service together, as its role says, and starts it. Disposing it stops everything in order. */
export async function startService(input: ServiceInput): Promise<RunningService> {
  const { config, data, users, log, role } = input
  await using stack = new AsyncDisposableStack()
  const db = stack.use(
    new Database(input.database_url, {
      max: 20,
      on_error: error => log('error', 'an idle database connection broke', { error: error.message }),
    }),
  )
  const git = stack.use(
    await openGitHost({
      data_dir: data.root,
      user: users.service,
      ...(users.sandbox && { reader_gid: users.sandbox.gid }),
      allow_private: config.AGENTRUN_ALLOW_PRIVATE_GIT,
      max_mirror_bytes: config.AGENTRUN_MIRROR_MAX_BYTES,
    }),
  )
  const hub = new Hub()
  const author = {
    name: config.AGENTRUN_COMMIT_AUTHOR_NAME,
    email: config.AGENTRUN_COMMIT_AUTHOR_EMAIL,
    trailer: config.AGENTRUN_COMMIT_TRAILER,
  }
  const parts: Parts = { ...input, db, git, hub, models: modelsOf(config), author }
  const listener = stack.use(new Listener(input.database_url, hub))
  await listener.start()

  let base_url = config.AGENTRUN_BASE_URL ?? `http://${config.AGENTRUN_HOST}:${config.AGENTRUN_PORT}`
  const worker = role === 'serve' ? null : stack.use(createWorker(parts, () => base_url))
  // Before the API answers: it is asked whether any worker is there.
  await worker?.register()
  const api = role === 'work' ? null : stack.use(await startApi(parts))
  if (api) base_url = api.base_url
  await worker?.start()

  const running = stack.move()
  return { api, blocked: () => worker?.blocked ?? null, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
