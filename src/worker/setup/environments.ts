import { basename, join } from 'node:path'
import { actionTool } from '../../contract/runs/action-tools.ts'
import { orAborted } from '../../core/abort.ts'
import { errorText, type Log } from '../../core/log.ts'
import {
  environmentInputsDigest,
  manifestsDigest,
  preparedEnvironmentKey,
} from '../../core/repositories/prepared-environment.ts'
import { setupSecretsDigest } from '../../core/sandbox-environment.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import { isAncestor } from '../../git/publish/merge.ts'
import { listManifests } from '../../git/read/list-manifests.ts'
import { resolveRef } from '../../git/read/revisions.ts'
import { toolchainMark } from '../../sandbox/bubblewrap/toolchain.ts'
import { folderFingerprint } from '../../sandbox/workspaces/fingerprint.ts'
import {
  draftTemplate,
  newEnvironmentName,
  sweepTemplates,
  type TemplateFolders,
  templateBytes,
  touchTemplate,
} from '../../sandbox/workspaces/templates.ts'
import type { Db } from '../../store/database.ts'
import {
  countEnvironmentUse,
  type EnvironmentRow,
  findEnvironment,
  forgetEnvironments,
  insertEnvironment,
  listEnvironmentTemplates,
} from '../../store/workspaces/environments.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import type { Base } from '../base/base.ts'
import type { Templates } from '../base/templates.ts'
import { type PrepareInput, prepareEnvironment } from './prepare-environment.ts'
import type { SetupFailure } from './run-setup.ts'

/**
 * The result of setup commands, which a run reuses. `made_at_sha`: the commit that they ran at; `made`:
 * created by this run. `row` null: it belongs to this run alone, because commands failed or another run was
 * faster.
 */
export type Environment = {
  template: string
  made_at_sha: string
  left_out: string[]
  failures: SetupFailure[]
  made: boolean
  row: EnvironmentRow | null
}

/** Returns the age of an environment in seconds when the run got it. */
export const ageOf = ({ row, made }: Environment): number =>
  row === null || made
    ? 0
    : Math.max(0, Math.round((row.last_used_at.getTime() - row.made_at.getTime()) / 1000))

type Deps = {
  db: Db
  git: GitHost
  templates: Templates
  folders: TemplateFolders
  folder_id: string
  max_bytes: number
  max_age_seconds: number
  log: Log
}

const MAX_CACHED = 1_000
const CREATION_MS = 10_000

/**
 * The environments of this machine (docs/how-to/setup-commands.md). Runs with the same setup share one as a
 * lower layer, which costs the same whatever its size. The first run that needs it creates it on the
 * repository's own files, before its agent starts.
 */
export class Environments implements AsyncDisposable {
  readonly #deps: Deps
  readonly #creating = new Map<string, Promise<unknown>>()
  readonly #manifests = new Map<string, Promise<[string, string][]>>()
  #swept: Promise<void> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Why each run runs the commands itself; null when environments are available or that is not known yet. */
  get problem(): string | null {
    return this.#deps.max_bytes === 0
      ? 'switched off (AGENTRUN_ENVIRONMENT_BYTES)'
      : this.#deps.templates.problem
  }

  /**
   * Finds or creates an environment for the run. Null: the commands run in the run's own workspace.
   * `may_create`: the commands would run on files that people have written. Throws what `setUp` throws.
   */
  async provide(of: PrepareInput, may_create: boolean): Promise<Environment | null> {
    const { base, signal } = of
    if (this.problem !== null) return null
    await this.#deps.templates.test()
    if (this.problem !== null) return null
    const history = await this.#historyOf(base)
    const own = await this.#key(of, history).catch(error => {
      this.#deps.log('warn', 'the manifests of an environment could not be listed', {
        error: errorText(error),
      })
      return null
    })
    if (own === null) return null
    const found = (await this.#find(of, own, history)) ?? (await this.#findOfDefaultBranch(of, history))
    if (found !== null || !may_create) return found
    // Waits for one attempt only: after a failed one, a run does not wait for all other runs.
    const other = this.#creating.get(own)
    if (other !== undefined) {
      await orAborted(other, signal)
      const theirs = await this.#find(of, own, history)
      if (theirs !== null) return theirs
    }
    const creating = this.#create(of, own, history)
    const done = creating
      .catch(() => {})
      .finally(() => this.#creating.get(own) === done && this.#creating.delete(own))
    this.#creating.set(own, done)
    return creating
  }

  /**
   * Returns the ref of the base if its branch contains the base, otherwise the commit itself: runs on a
   * branch do not trust commits that were removed from it.
   */
  async #historyOf({ repository, ref, sha }: Base): Promise<string> {
    return (await this.#isOn(repository.id, ref, sha)) ? ref : sha
  }

  async #isOn(repository_id: number, branch: string, sha: string): Promise<boolean> {
    const tip = await resolveRef(this.#deps.git, repository_id, `refs/heads/${branch}`)
    if (tip === null || 'empty' in tip) return false
    return tip.sha === sha || isAncestor(this.#deps.git, repository_id, sha, tip.sha)
  }

  #manifestsOf({ base, setup }: PrepareInput): Promise<[string, string][]> {
    const at = `${base.repository.id} ${base.sha} ${setup.digest}`
    if (this.#manifests.size > MAX_CACHED) this.#manifests.clear()
    let manifests = this.#manifests.get(at)
    if (manifests === undefined) {
      manifests = listManifests(this.#deps.git, base.repository.id, base.sha, setup.commands)
      manifests.catch(() => this.#manifests.delete(at))
      this.#manifests.set(at, manifests)
    }
    return manifests
  }

  async #key(of: PrepareInput, base_ref: string): Promise<string> {
    const { setup, secrets, run, deps } = of
    const { commands, variables } = setup
    const parts = {
      commands,
      variables,
      secrets: setupSecretsDigest(deps.sealer, run.organization_id, secrets.secrets),
      toolchain: toolchainMark(),
    }
    return preparedEnvironmentKey({ ...parts, manifests: await this.#manifestsOf(of), base_ref })
  }

  /** Other branches may use environments of the default branch, never the other way round. */
  async #findOfDefaultBranch(of: PrepareInput, history: string): Promise<Environment | null> {
    const { repository } = of.base
    const known = repository.base_branch ?? (await resolveRef(this.#deps.git, repository.id, null))
    const branch = known === null || typeof known === 'string' ? known : 'empty' in known ? null : known.ref
    return branch === null || branch === history ? null : this.#find(of, await this.#key(of, branch), branch)
  }

  /** Finds an environment that is not too old and whose files are unchanged since its creation. */
  async #find(
    { run, base, writer, signal }: PrepareInput,
    key: string,
    history: string,
  ): Promise<Environment | null> {
    const { db, folders, folder_id, max_age_seconds, templates, log } = this.#deps
    const at = { repository_id: run.repository_id ?? 0, folder_id, key, max_age_seconds }
    const row = await findEnvironment(db, run.organization_id, at)
    if (row === undefined) return null
    const { template } = row
    // Its commit was removed from the branch after the creation.
    if (row.base_sha !== base.sha && !(await this.#isOn(base.repository.id, history, row.base_sha))) {
      await forgetEnvironments(db, folder_id, [template])
      return null
    }
    const began = performance.now()
    const digest = touchTemplate(folders, template)
      ? await folderFingerprint(join(folders.root, template), ['tree', 'home'], folders.user, signal).catch(
          errorText,
        )
      : null
    signal.throwIfAborted()
    if (digest === row.digest) {
      const used = await countEnvironmentUse(db, run.organization_id, row.id)
      if (used === undefined) return null
      return {
        template,
        made_at_sha: row.base_sha,
        left_out: row.left_out,
        failures: [],
        made: false,
        row: used,
      }
    }
    // One that is being created has no files under its name yet.
    if (digest === null && Date.now() - row.made_at.getTime() < CREATION_MS) return null
    await forgetEnvironments(db, folder_id, [template])
    if (digest === null) return null
    log('error', 'files of an environment were changed', { template, environment_id: row.id })
    templates.discard(template)
    const output = {
      status: 'error',
      error: 'Its files have changed since it was created. It is no longer used.',
    }
    const entry = serviceAction(
      actionTool.environment,
      { id: row.id, key },
      output,
      performance.now() - began,
    )
    await writer.append({ entries: [entry] })
    return null
  }

  async #create(of: PrepareInput, key: string, history: string): Promise<Environment> {
    const { db, folders, folder_id, max_age_seconds, log } = this.#deps
    const { run, base, setup } = of
    const template = newEnvironmentName(base.repository.id)
    const began = performance.now()
    await using draft = draftTemplate(folders, 'environment')
    const { left_out, failures } = await prepareEnvironment(of, draft)
    const setup_ms = Math.round(performance.now() - began)
    const made = { template, made_at_sha: base.sha, left_out, failures, made: true }
    if (failures.length > 0) {
      draft.publish(template)
      return { ...made, row: null }
    }
    const digest = await folderFingerprint(draft.folder, ['tree', 'home'], folders.user, of.signal)
    // Recorded before it is published: the sweep removes files without a row.
    const row = await insertEnvironment(db, {
      organization_id: run.organization_id,
      repository_id: base.repository.id,
      folder_id,
      template,
      key,
      digest,
      setup_ms,
      setup_digest: environmentInputsDigest(
        setup.digest,
        setupSecretsDigest(of.deps.sealer, run.organization_id, of.secrets.secrets),
      ),
      base_ref: history,
      base_sha: base.sha,
      left_out,
      run_id: run.id,
      manifests_digest: manifestsDigest(await this.#manifestsOf(of)),
      bytes: await templateBytes(folders, basename(draft.folder)),
      max_age_seconds,
    })
    draft.publish(template)
    void this.sweep().catch(error =>
      log('error', 'environments could not be removed', { error: errorText(error) }),
    )
    return { ...made, row: row ?? null }
  }

  /** One sweep at a time. */
  sweep(max_bytes = this.#deps.max_bytes): Promise<void> {
    const swept = this.#swept.then(() => sweepEnvironments(this.#deps, max_bytes))
    this.#swept = swept.catch(() => {})
    return swept
  }

  async [Symbol.asyncDispose]() {
    await Promise.allSettled([...this.#creating.values(), this.#swept])
  }
}

/**
 * Removes environments that are too old or abandoned, and the least recently used ones beyond `max_bytes`;
 * none that a workspace uses.
 */
export async function sweepEnvironments(
  { db, folders, folder_id, max_age_seconds }: Pick<Deps, 'db' | 'folders' | 'folder_id' | 'max_age_seconds'>,
  max_bytes: number,
): Promise<void> {
  const listWanted = async () => {
    const wanted = new Set(await listEnvironmentTemplates(db, folder_id, max_age_seconds))
    return (name: string) => wanted.has(name)
  }
  const removed = await sweepTemplates(folders, 'environment', max_bytes, listWanted)
  if (removed.length > 0) await forgetEnvironments(db, folder_id, removed)
}
