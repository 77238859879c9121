import { chmodSync, chownSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPipes } from '../../system/programs/create-pipes.ts'
import type { SystemUser } from '../../system/users.ts'
import type { PipeReader } from './pipe-reader.ts'

/**
 * The connection between the host and one command, or one shell: files `NAME.command` and `NAME.input`, and a
 * pipe for each other kind.
 */
export type Slot = {
  name: string
  path(kind: (typeof all_kinds)[number]): string
  /**
   * The mark behind the command in its file. Its reader gets the mark with the request, and refuses a command
   * that another mark follows.
   */
  command_end: string
}
const pipe_kinds = ['output', 'errors', 'status', 'requests'] as const
const file_kinds = ['command', 'input'] as const
const all_kinds = [...pipe_kinds, ...file_kinds]

/** The host folder that a sandbox sees, read-only, as /run/exec. */
export type PipeFolder = {
  readonly path: string
  takeSlot(): Promise<Slot>
  /**
   * Returns a slot for reuse. Only when nothing inside has its pipes open: a late writer would write into the
   * next command's output.
   */
  giveBack(slot: Slot): void
  /** Removes a slot: what has its pipes open gets a broken pipe. */
  removeSlot(slot: Slot): void
  /** For a slot whose pipes a background process has open: it is returned when the pipes have ended. */
  leaveOpen(slot: Slot, readers: PipeReader[]): void
  /**
   * Writes the command of a slot, which contains no NUL, and sets its mark. Throws, or rejects, when it is
   * not complete on the disk.
   */
  writeCommand(slot: Slot, command: string): Promise<void> | void
  /** Writes the input file of a slot. */
  writeInput(slot: Slot, bytes: string | Uint8Array): Promise<void> | void
  remove(): void
}

const slots_at_once = 4
const max_left_open = 32
/** From this size on a file is written asynchronously. */
const large_bytes = 256 * 1024

/**
 * Creates the folder below `parent`. Its files belong to this process and the group of `user`, so nothing
 * inside can replace one, even after an escape.
 */
export function createPipeFolder(parent: string, user: SystemUser | null): PipeFolder {
  const path = mkdtempSync(join(parent, `${process.pid}-`))
  if (user) chownSync(path, -1, user.gid)
  // Set-group-id: pipes created in it get its group.
  chmodSync(path, user ? 0o2750 : 0o700)
  const free: Slot[] = []
  const left_open: { slot: Slot; readers: PipeReader[] }[] = []
  let created = 0
  let commands = 0

  return {
    path,
    async takeSlot() {
      for (;;) {
        const slot = free.pop()
        if (slot) return slot
        const first = created + 1
        created += slots_at_once
        free.push(...(await createSlots(path, first)))
      }
    },
    giveBack(slot) {
      free.push(slot)
    },
    removeSlot,
    leaveOpen(slot, readers) {
      const entry = { slot, readers }
      left_open.push(entry)
      if (left_open.length > max_left_open) {
        // The oldest is closed permanently: its writers get a broken pipe.
        const oldest = left_open.shift()
        for (const reader of oldest?.readers ?? []) reader.close()
        if (oldest) removeSlot(oldest.slot)
      }
      Promise.all(readers.map(reader => reader.ended)).then(() => {
        const index = left_open.indexOf(entry)
        if (index < 0) return
        left_open.splice(index, 1)
        free.push(slot)
      })
    },
    writeCommand(slot, command) {
      slot.command_end = String(++commands)
      return writeCommandFile(slot.path('command'), `${command}\0${slot.command_end}\0`)
    },
    writeInput(slot, bytes) {
      const file = slot.path('input')
      if (bytes.length > large_bytes) return writeFile(file, bytes)
      writeFileSync(file, bytes)
    },
    remove() {
      for (const { readers } of left_open.splice(0)) for (const reader of readers) reader.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

function removeSlot(slot: Slot): void {
  for (const kind of all_kinds) rmSync(slot.path(kind), { force: true })
}

/** Creates the pipes and files of some slots, named from `first` on. */
async function createSlots(folder: string, first: number): Promise<Slot[]> {
  const slots = Array.from({ length: slots_at_once }, (_, i): Slot => {
    const name = String(first + i)
    return { name, path: kind => join(folder, `${name}.${kind}`), command_end: '' }
  })
  const pipes = slots.flatMap(slot => pipe_kinds.map(slot.path))
  const creation = createPipes(pipes)
  for (const file of slots.flatMap(slot => file_kinds.map(slot.path))) {
    writeFileSync(file, '')
    chmodSync(file, 0o640)
  }
  await creation
  return slots
}

function writeCommandFile(file: string, text: string): Promise<void> | void {
  if (text.length > large_bytes) return writeFile(file, text)
  // Written over the previous command, because a file that is truncated and refilled goes to the disk at
  // once, which takes a millisecond.
  const descriptor = openSync(file, 'r+')
  try {
    writeFileSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
}
