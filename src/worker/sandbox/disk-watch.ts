import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { workspaceBytes } from '../../sandbox/workspaces/workspace-size.ts'
import { foldersOf } from '../../sandbox/workspaces/workspaces.ts'
import type { Control } from '../claim/control.ts'
import type { WorkerServices } from '../services.ts'
import { DISK_FULL, diskProblem } from './disk-full.ts'

/** Only a run whose files take this part of the disk is ended: smaller ones did not fill it. */
const LARGE_PART = 0.1

/**
 * Keeps the disk of the workspaces usable: below the reserve no run starts, and the run with the largest
 * files ends, if they are a large part of the disk, before other runs and the database run out of space.
 */
export class DiskWatch {
  readonly #deps: Pick<WorkerServices, 'folders' | 'users' | 'disk_reserve_bytes'>
  readonly #watched = new Map<string, Control>()
  #problem: string | null = null

  constructor(deps: Pick<WorkerServices, 'folders' | 'users' | 'disk_reserve_bytes'>) {
    this.#deps = deps
  }

  /** Why no run starts; null when there is space. */
  get problem(): string | null {
    return this.#problem
  }

  /** Watches the folders of a run, which `workspaceName` names, until the returned function is called. */
  watch(owner: string, control: Control): () => void {
    this.#watched.set(owner, control)
    return () => this.#watched.delete(owner)
  }

  /** Returns whether `problem` has changed. */
  async check(): Promise<boolean> {
    const { folders, disk_reserve_bytes } = this.#deps
    const before = this.#problem
    this.#problem = await diskProblem(folders.workspaces, disk_reserve_bytes)
    if (this.#problem !== null) await this.#endLargest()
    return before !== this.#problem
  }

  async #endLargest(): Promise<void> {
    const { folders, users } = this.#deps
    const { blocks, bsize } = await statfs(folders.workspaces)
    const disk_bytes = blocks * bsize
    // A folder that cannot be measured counts as empty: no run is ended for that.
    const measured = [...this.#watched].map(async ([owner, control]) => ({
      control,
      // Snapshots count for the run too.
      bytes: sum(
        await Promise.all(
          foldersOf(folders.workspaces, owner).map(name =>
            workspaceBytes(join(folders.workspaces, name), users.sandbox),
          ),
        ),
      ),
    }))
    const [largest] = (await Promise.all(measured)).toSorted((a, b) => b.bytes - a.bytes)
    if (!largest || largest.bytes < disk_bytes * LARGE_PART) return
    const message = `The disk of the workspaces is full, and the files of this run take ${Math.round(largest.bytes / 1024 ** 2)} MiB of it.`
    largest.control.end({
      kind: 'failed',
      reason: 'disk_quota',
      code: DISK_FULL,
      message,
      phase: 'workspace',
    })
  }
}

const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0)
