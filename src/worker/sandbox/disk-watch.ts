import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { workspaceBytes } from '../../sandbox/workspaces/workspace-size.ts'
import { foldersOf } from '../../sandbox/workspaces/workspaces.ts'
import type { Control } from '../claim/control.ts'
import type { WorkerDeps } from '../settings.ts'
import { DISK_FULL, diskProblem } from './disk-full.ts'

/** A run whose files take this part of the disk is the one that filled it; smaller ones are not ended for what others did. */
const GREEDY_PART = 0.1

/**
 * Keeps the disk of the workspaces usable: below the reserve no run is started, and the run that holds most of the disk, if that is a lot,
 * is ended before the others and the database run out of space too.
 */
export class DiskWatch {
  readonly #deps: Pick<WorkerDeps, 'folders' | 'users' | 'disk_reserve_bytes'>
  readonly #held = new Map<string, Control>()
  #problem: string | null = null

  constructor(deps: Pick<WorkerDeps, 'folders' | 'users' | 'disk_reserve_bytes'>) {
    this.#deps = deps
  }

  /** Why no run is started; null when there is space. */
  get problem(): string | null {
    return this.#problem
  }

  /** Watches the folders of an owner of a run, as `workspaceName` calls it, until the answer is called. */
  hold(owner: string, control: Control): () => void {
    this.#held.set(owner, control)
    return () => this.#held.delete(owner)
  }

  /** True: whether runs may be started has changed. */
  async look(): Promise<boolean> {
    const { folders, disk_reserve_bytes } = this.#deps
    const before = this.#problem
    this.#problem = await diskProblem(folders.workspaces, disk_reserve_bytes)
    if (this.#problem !== null) await this.#endGreediest()
    return before !== this.#problem
  }

  async #endGreediest(): Promise<void> {
    const { folders, users } = this.#deps
    const { blocks, bsize } = await statfs(folders.workspaces)
    const disk_bytes = blocks * bsize
    // One whose size cannot be told counts as nothing: nobody is ended for want of an answer.
    const measured = [...this.#held].map(async ([owner, control]) => ({
      control,
      // What its snapshots take is the run's too.
      bytes: sum(
        await Promise.all(foldersOf(folders.workspaces, owner).map(name => workspaceBytes(join(folders.workspaces, name), users.sandbox))),
      ),
    }))
    const [greediest] = (await Promise.all(measured)).toSorted((a, b) => b.bytes - a.bytes)
    if (!greediest || greediest.bytes < disk_bytes * GREEDY_PART) return
    const message = `The disk of the workspaces is full, and the files of this run take ${Math.round(greediest.bytes / 1024 ** 2)} MiB of it.`
    greediest.control.end({ kind: 'failed', reason: 'disk_quota', code: DISK_FULL, message, phase: 'workspace' })
  }
}

const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0)
