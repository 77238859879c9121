import { existsSync, statSync } from 'node:fs'
import { orAborted } from '../../core/abort.ts'
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
import { MIRROR_INSIDE } from './checkout.ts'

/** A smaller commit is checked out as fast as a layer is mounted. */
const MIN_SIZE = { files: 100, bytes: 1024 ** 2 }
/**
 * A smaller commit is cloned by the first run that starts from it: only a second one makes up for the time
 * that its template takes.
 */
const LARGE_SIZE = { files: 500, bytes: 4 * 1024 ** 2 }
/** How many commits are remembered that have no template. */
const MAX_KNOWN = 10_000
const OUTPUT = 16 * 1024

type Deps = {
  driver: SandboxDriver
  git: GitHost
  folders: TemplateFolders
  sandbox_limits: SandboxLimits
  clone_ms: number
  max_bytes: number
  log: Log
}

/**
 * Checkouts of commits that the workspaces of many runs share: each workspace is a layer on one, which costs
 * the same whatever its size. Where that is not possible, workspaces are cloned.
 */
export class Templates implements AsyncDisposable {
  readonly #deps: Deps
  readonly #creating = new Map<string, Promise<boolean>>()
  readonly #small = new Set<string>()
  readonly #cloned = new Set<string>()
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

  get folders(): TemplateFolders {
    return this.#deps.folders
  }

  /** Why every workspace is cloned; null when templates are available or that is not known yet. */
  get problem(): string | null {
    return this.#without ?? this.#failure
  }

  /** Tests once whether this machine supports layers in the folder of the templates. */
  test(): Promise<void> {
    this.#tested ??= this.#test()
    return this.#tested
  }

  /** Repeats a test that failed: it may have timed out. */
  async retest(): Promise<void> {
    if (this.#failure === null) return
    this.#tested = this.#test()
    await this.#tested
  }

  async #test() {
    const { driver, folders, log } = this.#deps
    if (this.#without !== null || !driver.layers) return
    // Git's index identifies files by inode and device.
    const apart = statSync(folders.root).dev !== statSync(folders.workspaces).dev
    const result = apart
      ? { ok: false as const, reason: 'templates/ and workspaces/ are on two file systems' }
      : await driver.layers.selfTest(folders.root)
    this.#failure = result.ok ? null : result.reason
    if (!result.ok) log('warn', 'large repositories are cloned for each run', { reason: result.reason })
  }

  /**
   * Returns the name of the template of a commit and creates it if it is missing; null: clone the commit.
   * Rejects when `signal` aborts.
   */
  async provide(repository_id: number, sha: string, signal: AbortSignal): Promise<string | null> {
    const { git, folders } = this.#deps
    if (this.problem !== null) return null
    const name = `${repository_id}-${sha}`
    if (touchTemplate(folders, name)) return name
    if (this.#small.has(name)) return null
    let creating = this.#creating.get(name)
    if (!creating) {
      creating = this.#create(name, repository_id, sha).finally(() => this.#creating.delete(name))
      this.#creating.set(name, creating)
      git.track(creating)
    }
    return (await orAborted(creating, signal)) ? name : null
  }

  has(name: string): boolean {
    return existsSync(templatePath(this.#deps.folders, name))
  }

  /**
   * Mounts a template with its changes in `workspace`, and its home folder with those in `home`. Null: the
   * template is gone. Rejects with SandboxError.
   */
  async open(workspace: string, home: string | null, name: string): Promise<Layer | null> {
    const { driver, folders } = this.#deps
    if (!driver.layers || !touchTemplate(folders, name)) return null
    const homes = home === null ? [] : [{ folder: home, base: templateHomePath(folders, name) }]
    return driver.layers.open([{ folder: workspace, base: templatePath(folders, name) }, ...homes])
  }

  /** Whether the template has a home folder too. */
  hasHome(name: string): boolean {
    return existsSync(templateHomePath(this.#deps.folders, name))
  }

  /** Discards a damaged template: the next run recreates it. */
  discard(name: string): void {
    this.#deps.log('error', 'a template was damaged and will be recreated', { template: name })
    discardTemplate(this.#deps.folders, name)
  }

  async #create(name: string, repository_id: number, sha: string): Promise<boolean> {
    const { driver, git, folders, sandbox_limits, clone_ms, log } = this.#deps
    try {
      if (!(await this.#isWorthIt(name, repository_id, sha))) return false
      await this.test()
      if (this.problem !== null) return false
      await using draft = draftTemplate(folders, 'commit')
      const read_only = [{ host: mirrorPath(git, repository_id), inside: MIRROR_INSIDE }]
      const sandbox = await driver.start({ workspace: draft.tree, read_only, limits: sandbox_limits })
      try {
        const command = templateCommand({ mirror_inside: MIRROR_INSIDE, base_sha: sha })
        const how = {
          shell: 'separate' as const,
          timeout_ms: clone_ms,
          max_output_bytes: OUTPUT,
          signal: this.#closing.signal,
        }
        // The run then clones, and that reports the error.
        if ((await sandbox.exec({ command, ...how })).exit_code !== 0) return false
      } finally {
        await sandbox.stop()
      }
      draft.publish(name)
    } catch (error) {
      log('error', 'a template could not be created', { template: name, error: errorText(error) })
      return false
    }
    void this.sweep().catch(error =>
      log('error', 'templates could not be removed', { error: errorText(error) }),
    )
    return true
  }

  async #isWorthIt(name: string, repository_id: number, sha: string): Promise<boolean> {
    const isLarge = (least: typeof MIN_SIZE) => isLargeTree(this.#deps.git, repository_id, sha, least)
    if (this.#cloned.delete(name)) return true
    const known = (await isLarge(MIN_SIZE)) ? this.#cloned : this.#small
    if (known === this.#cloned && (await isLarge(LARGE_SIZE))) return true
    if (known.size >= MAX_KNOWN) known.clear()
    known.add(name)
    return false
  }

  /**
   * Removes leftovers, templates of repositories without a mirror, and what exceeds `max_bytes`. One sweep at
   * a time.
   */
  sweep(max_bytes = this.#deps.max_bytes): Promise<void> {
    const { git, folders } = this.#deps
    const wants = async () => (name: string) => existsSync(mirrorPath(git, Number.parseInt(name, 10)))
    const swept = this.#swept.then(
      async () => void (await sweepTemplates(folders, 'commit', max_bytes, wants)),
    )
    this.#swept = swept.catch(() => {})
    return swept
  }

  /** Ends creations in progress. */
  async [Symbol.asyncDispose]() {
    this.#closing.abort(new Error('the service is stopping'))
    await Promise.allSettled([...this.#creating.values(), this.#tested, this.#swept])
  }
}
