import { GitError } from '../../git/process/git-error.ts'
import type { Change } from '../../git/workspace/changed-paths.ts'
import { changedTree, NeedsGit } from '../../git/workspace/changed-tree.ts'
import {
  CAPTURED,
  parseSnapshot,
  type Snapshot,
  snapshotCommand,
} from '../../git/workspace/checkpoint-commands.ts'
import type { WrittenObjects } from '../../git/workspace/written-objects.ts'
import { SandboxError } from '../../sandbox/port.ts'
import type { ChangesProgram } from './changes-program.ts'

/** A listing that takes longer is blocked by something; then git takes all snapshots of the sandbox. */
const LIST_MS = 15_000

/**
 * `stale`: a capture since the snapshot before has none. `largest_bytes`: no file that may have changed was
 * larger a moment ago. `complete`: git examines all files.
 */
export type SnapshotOptions = { stale: boolean; largest_bytes: number; complete: boolean }

/** The trees of a snapshot from the changed paths, and of git, which has examined all files. */
export type Difference = { from_changes: string; from_git: string }

/** `snapshot`: null: nothing has changed. `by_git`: git has examined all files. */
export type TakenSnapshot = { snapshot: Snapshot | null; differs: Difference | null; by_git: boolean }

type TakerInput = {
  program: ChangesProgram
  written: WrittenObjects
  /** Runs a command of the shell for snapshots. */
  run(command: string, timeout_ms: number, on_output?: () => void): Promise<Uint8Array>
  /** Git learns all written objects, and its index gets this tree unless it is null. */
  learn(tree: string | null): Promise<void>
  max_file_bytes: number
}

/** Takes snapshots from the changed paths where that is possible, and by git otherwise. */
export class SnapshotTaker {
  readonly #input: TakerInput
  /** The tree that git's index has; null: unknown. */
  #index: string | null = null

  constructor(input: TakerInput) {
    this.#input = input
  }

  /** Takes the first snapshot with the command that prepares the shell. */
  async first(command: string, timeout_ms: number): Promise<Snapshot> {
    this.#index = null
    const { snapshot } = this.#read(await this.#input.run(command, timeout_ms))
    return snapshot
  }

  async take(
    before: Snapshot,
    { stale, largest_bytes, complete }: SnapshotOptions,
    captured: () => void,
    timeout_ms: number,
  ): Promise<TakenSnapshot> {
    const changed = stale ? null : await this.#fromChanges(before, Math.min(LIST_MS, timeout_ms))
    if (changed !== null && !complete && changed.head === before.head) {
      captured()
      return { snapshot: sameFiles(changed, before) ? null : changed, differs: null, by_git: false }
    }
    await this.#input.learn(this.#index === before.tree ? null : before.tree)
    // Unknown until git has ended.
    this.#index = null
    const from = { tree: stale ? 'none' : before.tree, head: before.head }
    const small = largest_bytes <= this.#input.max_file_bytes
    const output = await this.#input.run(snapshotCommand(from, small), timeout_ms, captured)
    if (Buffer.from(output).toString() === CAPTURED) {
      this.#index = before.tree
      return { snapshot: null, differs: differenceOf(changed, before.tree), by_git: true }
    }
    const { snapshot, files_tree } = this.#read(output)
    return { snapshot, differs: differenceOf(changed, files_tree), by_git: true }
  }

  /** Null: git has to take it. Its head may be another one than that of its objects. */
  async #fromChanges(before: Snapshot, timeout_ms: number): Promise<Snapshot | null> {
    const { program, written } = this.#input
    // Where files are left out, git decides about each of them again.
    if (before.left_out.length > 0 || written.isFull) return null
    const listed = await program.list(timeout_ms)
    if ('reason' in listed || listed.changes.some(change => this.#isTooLarge(change))) return null
    try {
      const { tree, objects } = await changedTree(written, before.tree, listed.changes)
      const number = tree === before.tree ? before.number : written.addSnapshot(objects)
      return { ...before, tree, head: listed.head, branch: listed.branch, number }
    } catch (error) {
      if (error instanceof NeedsGit || error instanceof GitError) return null
      throw error
    }
  }

  #isTooLarge(change: Change): boolean {
    return change.kind === 'file' && change.content.length > this.#input.max_file_bytes
  }

  #read(output: Uint8Array): { snapshot: Snapshot; files_tree: string } {
    const read = parseSnapshot(output)
    if (read === null) throw new SandboxError('The snapshot failed: git returned none')
    this.#index = read.found.tree
    return {
      snapshot: { ...read.found, number: this.#input.written.addSnapshot(null) },
      files_tree: read.files_tree,
    }
  }
}

const sameFiles = (a: Snapshot, b: Snapshot) => a.tree === b.tree && a.branch === b.branch

const differenceOf = (changed: Snapshot | null, from_git: string): Difference | null =>
  changed === null || changed.tree === from_git ? null : { from_changes: changed.tree, from_git }
