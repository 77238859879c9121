import { existsSync, statSync } from 'node:fs'
import { errorText, type Log } from '../../core/log.ts'
import { isLargeTree } from '../../git/objects/tree-size.ts'
import { type GitHost, mirrorPath } from '../../git/process/git-host.ts'
import { templateCommand } from '../../git/workspace/template-commands.ts'
import type { Layer, SandboxDriver, SandboxLimits } from '../../sandbox/port.ts'
import {
  discardTemplate,
  draftTemplate,
  sweepTemplates,
  type TemplateFolders,
  templateHomePath,
  templatePath,
  touchTemplate,
} from '../../sandbox/workspaces/templates.ts'
import { MIRROR_INSIDE } from '../base/checkout.ts'

/** A smaller commit is checked out as fast as a layer is made. */
const LEAST = { files: 500, bytes: 4 * 1024 ** 2 }
const OUTPUT = 16 * 1024

type Deps = {
  driver: SandboxDriver
  git: GitHost
  place: TemplateFolders
  sandbox_limits: SandboxLimits
  clone_ms: number
  max_bytes: number
  log: Log
}

/**
 * The files of commits, checked out once, for the workspaces of all runs that begin with them: each workspace is a layer on them, which
 * costs the same whatever their size. What cannot be had this way is cloned.
 */
export class Templates implements AsyncDisposable {
  readonly #deps: Deps
  readonly #made = new Map<string, Promise<boolean>>()
  readonly #small = new Set<string>()
  readonly #closing = new AbortController()
  #tested: Promise<void> | null = null
  #swept: Promise<void> = Promise.resolve()
  readonly #without: string | null
  #failure: string | null = null

  constructor(deps: Deps) {
    this.#deps = deps
    this.#without =
      deps.max_bytes === 0
        ? 'switched off (AGENTRUN_TEMPLATE_BYTES)'
        : deps.driver.layers
          ? null
          : `the driver ${deps.driver.name} has none`
  }

  get place(): TemplateFolders {
    return this.#deps.place
  }

  /** Why every workspace is a clone; null as far as is known when they need not be. */
  get problem(): string | null {
    return this.#without ?? this.#failure
  }

  /** Finds out, once, whether this machine can have layers where the templates are. */
  test(): Promise<void> {
    this.#tested ??= this.#test()
    return this.#tested
  }

  /** Again, where it did not work the last time: it may have been for want of time. */
  async testAgain(): Promise<void> {
    if (this.#failure === null) return
    this.#tested = this.#test()
    await this.#tested
  }

  async #test() {
    const { driver, place, log } = this.#deps
    if (this.#without !== null || !driver.layers) return
    // Git's index knows files by numbers that are those of a file system.
    const apart = statSync(place.root).dev !== statSync(place.workspaces).dev
    const result = apart
      ? { ok: false as const, reason: 'templates/ and workspaces/ are on two file systems' }
      : await driver.layers.selfTest(place.root)
    this.#failure = result.ok ? null : result.reason
    if (!result.ok) log('warn', 'large repositories are cloned for each run', { reason: result.reason })
  }

  /** The name of the template of a commit, which is made when it is missing; null: clone it. Rejects when `signal` fires. */
  async provide(repository_id: number, sha: string, signal: AbortSignal): Promise<string | null> {
    const { git, place } = this.#deps
    if (this.problem !== null) return null
    const name = `${repository_id}-${sha}`
    if (touchTemplate(place, name)) return name
    if (this.#small.has(name)) return null
    let making = this.#made.get(name)
    if (!making) {
      making = this.#make(name, repository_id, sha).finally(() => this.#made.delete(name))
      this.#made.set(name, making)
      git.track(making)
    }
    return (await orAborted(making, signal)) ? name : null
  }

  has(name: string): boolean {
    return existsSync(templatePath(this.#deps.place, name))
  }

  /** The copy of a template that `workspace`, and `home` of the home folder in it, keep the changes of; null: it is gone. Rejects with SandboxError. */
  async open(workspace: string, home: string | null, name: string): Promise<Layer | null> {
    const { driver, place } = this.#deps
    if (!driver.layers || !touchTemplate(place, name)) return null
    const homes = home === null ? [] : [{ folder: home, base: templateHomePath(place, name) }]
    return driver.layers.open([{ folder: workspace, base: templatePath(place, name) }, ...homes])
  }

  /** Whether there are home folders on it too. */
  hasHome(name: string): boolean {
    return existsSync(templateHomePath(this.#deps.place, name))
  }

  /** It is not what it should be: the next run makes it anew. */
  discard(name: string): void {
    this.#deps.log('error', 'prepared files were damaged and are made anew', { template: name })
    discardTemplate(this.#deps.place, name)
  }

  async #make(name: string, repository_id: number, sha: string): Promise<boolean> {
    const { driver, git, place, sandbox_limits, clone_ms, log } = this.#deps
    try {
      if (!(await isLargeTree(git, repository_id, sha, LEAST))) {
        if (this.#small.size > 10_000) this.#small.clear()
        this.#small.add(name)
        return false
      }
      await this.test()
      if (this.problem !== null) return false
      await using draft = draftTemplate(place, 'commit')
      const read_only = [{ host: mirrorPath(git, repository_id), inside: MIRROR_INSIDE }]
      const sandbox = await driver.start({ workspace: draft.tree, read_only, limits: sandbox_limits })
      try {
        const command = templateCommand({ mirror_inside: MIRROR_INSIDE, base_sha: sha })
        const how = { shell: 'separate' as const, timeout_ms: clone_ms, max_output_bytes: OUTPUT, signal: this.#closing.signal }
        // The clone that the run then tries says what is wrong.
        if ((await sandbox.exec({ command, ...how })).exit_code !== 0) return false
      } finally {
        await sandbox.stop()
      }
      draft.publish(name)
    } catch (error) {
      log('error', 'the files of a commit could not be prepared', { template: name, error: errorText(error) })
      return false
    }
    void this.sweep().catch(error => log('error', 'templates could not be removed', { error: errorText(error) }))
    return true
  }

  /** Removes what is left over, what is of repositories without a mirror, and what is more than `max_bytes`. One sweep at a time. */
  sweep(max_bytes = this.#deps.max_bytes): Promise<void> {
    const { git, place } = this.#deps
    const wants = async () => (name: string) => existsSync(mirrorPath(git, Number.parseInt(name, 10)))
    const swept = this.#swept.then(async () => void (await sweepTemplates(place, 'commit', max_bytes, wants)))
    this.#swept = swept.catch(() => {})
    return swept
  }

  /** Ends what is being made. */
  async [Symbol.asyncDispose]() {
    this.#closing.abort(new Error('the service is stopping'))
    await Promise.allSettled([...this.#made.values(), this.#tested, this.#swept])
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
