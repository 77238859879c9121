import { basename, join } from 'node:path'
import { errorText, type Log } from '../../core/log.ts'
import { environmentInputsDigest, manifestsDigest, preparedEnvironmentKey } from '../../core/repositories/prepared-environment.ts'
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
import type { Templates } from '../workspace/templates.ts'
import { type Preparing, prepareEnvironment } from './prepare-environment.ts'
import type { SetupFailure } from './setup.ts'

/**
 * What setup commands have prepared, for a run to stand on. `made_at_sha`: the commit that they ran at. `row` null: it is this run's alone,
 * because they failed or others were faster.
 */
export type Environment = {
  template: string
  made_at_sha: string
  left_out: string[]
  failures: SetupFailure[]
  made: boolean
  row: EnvironmentRow | null
}

/** Seconds between when it was made and when the run got it. */
export const ageOf = ({ row, made }: Environment): number =>
  row === null || made ? 0 : Math.max(0, Math.round((row.last_used_at.getTime() - row.made_at.getTime()) / 1000))

type Deps = {
  db: Db
  git: GitHost
  templates: Templates
  place: TemplateFolders
  folder_id: string
  max_bytes: number
  max_age_seconds: number
  log: Log
}

const KEYS_KEPT = 1_000
const BEING_MADE_MS = 10_000

/**
 * What setup commands prepare, kept on this machine for all runs that would get the same (docs/how-to/setup-commands.md): each stands on it by layers, which
 * cost the same whatever its size. Made by the first run that needs it, on the repository's own files, before any agent is there.
 */
export class Environments implements AsyncDisposable {
  readonly #deps: Deps
  readonly #making = new Map<string, Promise<unknown>>()
  readonly #manifests = new Map<string, Promise<[string, string][]>>()
  #swept: Promise<void> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Why each run runs the commands itself; null as far as is known when it need not. */
  get problem(): string | null {
    return this.#deps.max_bytes === 0 ? 'switched off (AGENTRUN_ENVIRONMENT_BYTES)' : this.#deps.templates.problem
  }

  /**
   * An environment for the run, found or made. Null: there is none to be had, and the commands run in the run's own workspace. `may_make`: the
   * commands would run on files that people have written. Throws what setting up throws.
   */
  async provide(of: Preparing, may_make: boolean): Promise<Environment | null> {
    const { base, signal } = of
    if (this.problem !== null) return null
    await this.#deps.templates.test()
    if (this.problem !== null) return null
    const history = await this.#historyOf(base)
    const own = await this.#key(of, history).catch(error => {
      this.#deps.log('warn', 'what an environment depends on could not be listed', { error: errorText(error) })
      return null
    })
    if (own === null) return null
    const found = (await this.#find(of, own, history)) ?? (await this.#findOfDefaultBranch(of, history))
    if (found !== null || !may_make) return found
    // Waited for once: who comes after one that failed does not wait for all the others.
    const other = this.#making.get(own)
    if (other !== undefined) {
      await Promise.race([other, aborted(signal)])
      signal.throwIfAborted()
      const theirs = await this.#find(of, own, history)
      if (theirs !== null) return theirs
    }
    const making = this.#make(of, own, history)
    const done = making.catch(() => {}).finally(() => this.#making.get(own) === done && this.#making.delete(own))
    this.#making.set(own, done)
    return making
  }

  /**
   * The branch that the base is in the history of, by the name that it was found by; otherwise the commit itself: what was taken out of a branch
   * is not what others on it trust.
   */
  async #historyOf({ repository, ref, sha }: Base): Promise<string> {
    return (await this.#isOn(repository.id, ref, sha)) ? ref : sha
  }

  async #isOn(repository_id: number, branch: string, sha: string): Promise<boolean> {
    const tip = await resolveRef(this.#deps.git, repository_id, `refs/heads/${branch}`)
    if (tip === null || 'empty' in tip) return false
    return tip.sha === sha || isAncestor(this.#deps.git, repository_id, sha, tip.sha)
  }

  #manifestsOf({ base, setup }: Preparing): Promise<[string, string][]> {
    const at = `${base.repository.id} ${base.sha} ${setup.digest}`
    if (this.#manifests.size > KEYS_KEPT) this.#manifests.clear()
    let manifests = this.#manifests.get(at)
    if (manifests === undefined) {
      manifests = listManifests(this.#deps.git, base.repository.id, base.sha, setup.commands)
      manifests.catch(() => this.#manifests.delete(at))
      this.#manifests.set(at, manifests)
    }
    return manifests
  }

  async #key(of: Preparing, base_ref: string): Promise<string> {
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

  /** What the default branch has prepared is good enough for the others, never the other way round. */
  async #findOfDefaultBranch(of: Preparing, history: string): Promise<Environment | null> {
    const { repository } = of.base
    const known = repository.base_branch ?? (await resolveRef(this.#deps.git, repository.id, null))
    const branch = known === null || typeof known === 'string' ? known : 'empty' in known ? null : known.ref
    return branch === null || branch === history ? null : this.#find(of, await this.#key(of, branch), branch)
  }

  /** One that is there, is not too old, and whose files are as they were when it was made. */
  async #find({ run, base, writer, signal }: Preparing, key: string, history: string): Promise<Environment | null> {
    const { db, place, folder_id, max_age_seconds, templates, log } = this.#deps
    const at = { repository_id: run.repository_id ?? 0, folder_id, key, max_age_seconds }
    const row = await findEnvironment(db, run.organization_id, at)
    if (row === undefined) return null
    const { template } = row
    // It was made when nobody knew yet that its commit had been taken out.
    if (row.base_sha !== base.sha && !(await this.#isOn(base.repository.id, history, row.base_sha))) {
      await forgetEnvironments(db, folder_id, [template])
      return null
    }
    const began = performance.now()
    const digest = touchTemplate(place, template)
      ? await folderFingerprint(join(place.root, template), ['tree', 'home'], place.user, signal).catch(errorText)
      : null
    signal.throwIfAborted()
    if (digest === row.digest) {
      const used = await countEnvironmentUse(db, run.organization_id, row.id)
      if (used === undefined) return null
      return { template, made_at_sha: row.base_sha, left_out: JSON.parse(row.left_out) as string[], failures: [], made: false, row: used }
    }
    // One that is just being made has no files under its name yet.
    if (digest === null && Date.now() - row.made_at.getTime() < BEING_MADE_MS) return null
    await forgetEnvironments(db, folder_id, [template])
    if (digest === null) return null
    log('error', 'files of an environment are not what they were', { template, environment_id: row.id })
    templates.discard(template)
    const said = { status: 'error', error: 'Its files are not what they were when it was made. It is not used any more.' }
    const entry = serviceAction('environment', { id: row.id, key }, said, performance.now() - began)
    await writer.append({ entries: [entry] })
    return null
  }

  async #make(of: Preparing, key: string, history: string): Promise<Environment> {
    const { db, place, folder_id, max_age_seconds, log } = this.#deps
    const { run, base, setup } = of
    const template = newEnvironmentName(base.repository.id)
    const began = performance.now()
    await using draft = draftTemplate(place, 'environment')
    const { left_out, failures } = await prepareEnvironment(of, draft)
    const setup_ms = Math.round(performance.now() - began)
    const made = { template, made_at_sha: base.sha, left_out, failures, made: true }
    if (failures.length > 0) {
      draft.publish(template)
      return { ...made, row: null }
    }
    const digest = await folderFingerprint(draft.folder, ['tree', 'home'], place.user, of.signal)
    // Known before it is there: what nobody knows is swept away.
    const row = await insertEnvironment(db, {
      ...{ organization_id: run.organization_id, repository_id: base.repository.id, folder_id, template, key, digest, setup_ms },
      ...{
        setup_digest: environmentInputsDigest(setup.digest, setupSecretsDigest(of.deps.sealer, run.organization_id, of.secrets.secrets)),
        base_ref: history,
        base_sha: base.sha,
        left_out: JSON.stringify(left_out),
        run_id: run.id,
      },
      manifests_digest: manifestsDigest(await this.#manifestsOf(of)),
      bytes: await templateBytes(place, basename(draft.folder)),
      max_age_seconds,
    })
    draft.publish(template)
    void this.sweep().catch(error => log('error', 'environments could not be removed', { error: errorText(error) }))
    return { ...made, row: row ?? null }
  }

  /** One sweep at a time. */
  sweep(max_bytes = this.#deps.max_bytes): Promise<void> {
    const swept = this.#swept.then(() => sweepEnvironments(this.#deps, max_bytes))
    this.#swept = swept.catch(() => {})
    return swept
  }

  async [Symbol.asyncDispose]() {
    await Promise.allSettled([...this.#making.values(), this.#swept])
  }
}

/** Removes what is too old or was given up, and, the longest unused first, what is more than `max_bytes`; none that a workspace stands on. */
export async function sweepEnvironments(
  { db, place, folder_id, max_age_seconds }: Pick<Deps, 'db' | 'place' | 'folder_id' | 'max_age_seconds'>,
  max_bytes: number,
): Promise<void> {
  const listWanted = async () => {
    const wanted = new Set(await listEnvironmentTemplates(db, folder_id, max_age_seconds))
    return (name: string) => wanted.has(name)
  }
  const gone = await sweepTemplates(place, 'environment', max_bytes, listWanted)
  if (gone.length > 0) await forgetEnvironments(db, folder_id, gone)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
