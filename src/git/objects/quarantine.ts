import { randomUUID } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { GitError, gitErrorFrom } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { createFolders, moveFiles, removeTree } from '../process/owner-files.ts'
import { type GitCall, runGit } from '../process/run-git.ts'
import { type ObjectReader, withObjectReader } from './object-reader.ts'

/**
 * Objects outside a repository that git also sees. `call` holds the settings for git; `keep` moves them into
 * their object store.
 */
export type Quarantine = { call: { git_dir: string; env: QuarantineEnv }; keep(): Promise<void> }

type QuarantineEnv = {
  GIT_OBJECT_DIRECTORY: string
  GIT_ALTERNATE_OBJECT_DIRECTORIES: string
  GIT_ALLOC_LIMIT: string
}

/**
 * `git_dir`: the repository whose refs and objects git sees. `into`: the repository that gets the objects;
 * default: the same.
 */
type QuarantineFor = { git_dir: string; into?: string }

const INCOMING = 'incoming-'
const CHECK_MS = 300_000
const READ_MS = 600_000
/** Longer than any check takes. */
const LEFTOVER_MS = 2 * 3_600_000

/**
 * Creates a folder for untrusted objects, beside the repository and not in it: sandboxes see what is in a
 * repository. Objects that are not kept are removed at the end.
 */
export async function withQuarantine<T>(
  host: GitHost,
  { git_dir, into = git_dir }: QuarantineFor,
  work: (quarantine: Quarantine) => Promise<T>,
): Promise<T> {
  const incoming = join(dirname(into), `${INCOMING}${randomUUID()}`)
  const objects = join(into, 'objects')
  const borrowed = [...new Set([objects, join(git_dir, 'objects')])].join(':')
  const env = {
    GIT_OBJECT_DIRECTORY: incoming,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: borrowed,
    GIT_ALLOC_LIMIT: '1g',
  }
  await createFolders(host, incoming, join(incoming, 'pack'))
  await removeLeftovers(host, dirname(into))
  try {
    return await work({
      call: { git_dir, env },
      keep: () => moveIn(host, join(incoming, 'pack'), join(objects, 'pack')),
    })
  } finally {
    await removeTree(host, incoming)
  }
}

/**
 * Returns the arguments with which git reads a pack from its standard input and checks each object by itself.
 */
export const indexArguments = (max_bytes: number): string[] => [
  'index-pack',
  '--stdin',
  '--fix-thin',
  '--strict',
  `--max-input-size=${max_bytes}`,
]

/**
 * Returns the processor time that git may take for a pack of this size. A few bytes can describe many large
 * files; packs of real repositories need less than a tenth of it.
 */
export const indexSeconds = (bytes: number): number => 5 + 2 * Math.ceil(bytes / 1024 ** 2)

/** Opens a reader of what git sees in the quarantine, for all checks of its objects together. */
export const readQuarantine = <T>(
  host: GitHost,
  { call }: Quarantine,
  work: (reader: ObjectReader) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => withObjectReader(host, { ...call, timeout_ms: READ_MS, ...(signal && { signal }) }, work)

/**
 * Checks that every new commit leads to commits that the repository has, and that every tree and file exists
 * here or there. GitError `corrupt`.
 */
export async function checkLinked(
  host: GitHost,
  { call }: Quarantine,
  shas: string[],
  signal?: AbortSignal,
): Promise<void> {
  const options: Pick<GitCall, 'timeout_ms' | 'signal'> = { timeout_ms: CHECK_MS, ...(signal && { signal }) }
  const args = ['rev-list', '--objects', '--quiet', '--stdin', '--not', '--all']
  const linked = await runGit(host, {
    ...call,
    ...options,
    args,
    stdin: shas.map(sha => `${sha}\n`).join(''),
  })
  if (linked.exit_code !== 0) throw refusedObjects(linked.stderr)
}

/** Returns why git rejected a pack: `too_large` or `corrupt`. */
export function refusedObjects(stderr: string): GitError {
  if (/exceeds maximum allowed size|pack exceeds/i.test(stderr))
    return new GitError('too_large', 'the change is larger than allowed')
  const error = gitErrorFrom(stderr, 'git refuses the objects of this change')
  return new GitError('corrupt', error.message, { cause: error })
}

/** The index comes last: git looks for indexes first, and must find the pack then. */
async function moveIn(host: GitHost, from: string, to: string): Promise<void> {
  const names = (await readdir(from)).filter(name => name.startsWith('pack-') && !name.endsWith('.keep'))
  await moveFiles(host, from, to, [
    ...names.filter(name => !name.endsWith('.idx')),
    ...names.filter(name => name.endsWith('.idx')),
  ])
}

/** Removes what a killed service left. */
async function removeLeftovers(host: GitHost, folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter(name => name.startsWith(INCOMING))) {
    const found = await stat(join(folder, name)).catch(() => null)
    if (found && found.mtimeMs < Date.now() - LEFTOVER_MS) await removeTree(host, join(folder, name))
  }
}
