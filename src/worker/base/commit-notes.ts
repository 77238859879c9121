import { createHash } from 'node:crypto'
import {
  COPILOT_FILE,
  FOLDER_FILES,
  INSTRUCTION_CHARS,
  type InstructionPaths,
  instructionText,
  isInstructionPath,
  sortInstructionPaths,
} from '../../core/repositories/instruction-files.ts'
import { type LeftOutContent, leftOutBy } from '../../core/repositories/left-out.ts'
import {
  fitInstructions,
  type RepositoryInstructions,
} from '../../core/repositories/repository-instructions.ts'
import {
  type CursorRule,
  readCursorRule,
  readSkill,
  type Skill,
  uniqueSkills,
} from '../../core/repositories/skill-files.ts'
import type { InstructionText } from '../../core/text/instruction-block.ts'
import { inTurns } from '../../core/yield-to-others.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import { listPaths } from '../../git/read/list-paths.ts'
import { type FileAt, readFilesAt } from '../../git/read/read-files.ts'

/**
 * The instructions of a commit to agents, what a clone of it lacks, and the MCP servers that it names, as
 * text.
 */
export type CommitNotes = {
  instructions: RepositoryInstructions | null
  left_out: LeftOutContent | null
  mcp_file: string | null
}

const LEFT_OUT_FILES = ['.gitmodules', '.gitattributes']
const MCP_FILE = '.mcp.json'
/** Bytes of a file that are read: any character may take four. */
const FILE_BYTES = INSTRUCTION_CHARS * 4
const MAX_CACHED = 200
const decoder = new TextDecoder('utf-8', { fatal: false })
/** A commit never changes, and reading it costs milliseconds. */
const cache = new Map<string, CommitNotes>()

/**
 * Reads from the mirror: the agent cannot have written there. `skills`: those of the organization, which
 * share the room with what is read. GitError as of `readFilesAt`.
 */
export async function commitNotes(
  git: GitHost,
  { repository_id, sha }: { repository_id: number; sha: string },
  skills: readonly Skill[],
): Promise<CommitNotes> {
  const key = `${repository_id}:${sha}:${createHash('sha256').update(JSON.stringify(skills)).digest('base64')}`
  const found = cache.get(key)
  if (found !== undefined) return found
  const notes = await readNotes(git, { repository_id, sha }, skills)
  for (const oldest of cache.size < MAX_CACHED ? [] : cache.keys().take(1)) cache.delete(oldest)
  cache.set(key, notes)
  return notes
}

/**
 * Reads the instructions of folders at once: for each list of candidates the first that can be read, or the
 * first with a note when none can. GitError as of `readFilesAt`.
 */
export async function readFolders(
  git: GitHost,
  at: { repository_id: number; sha: string },
  candidates: readonly string[][],
): Promise<InstructionText[]> {
  const files = await readFilesAt(git, at.repository_id, at.sha, candidates.flat(), FILE_BYTES)
  return candidates.flatMap(paths => {
    const [found] = paths.flatMap(path => textOf(path, files.get(path)))
    const missing = paths
      .slice(0, 1)
      .map(path => ({ path, text: '', bytes: 0, truncated: false, note: CANNOT_BE_READ }))
    return found ?? missing
  })
}

async function readNotes(
  git: GitHost,
  { repository_id, sha }: { repository_id: number; sha: string },
  skills: readonly Skill[],
): Promise<CommitNotes> {
  const [at_root, listed] = await Promise.all([
    readFilesAt(
      git,
      repository_id,
      sha,
      [...FOLDER_FILES, COPILOT_FILE, ...LEFT_OUT_FILES, MCP_FILE],
      FILE_BYTES,
    ),
    listPaths(git, repository_id, sha, isInstructionPath),
  ])
  const paths = sortInstructionPaths(listed)
  const more = [...paths.rules, ...paths.skills]
  const files = new Map([
    ...at_root,
    ...(more.length === 0 ? [] : await readFilesAt(git, repository_id, sha, more, FILE_BYTES)),
  ])
  const text = (path: string) => textOf(path, files.get(path))[0]?.text
  const left_out = leftOutBy(text('.gitmodules'), text('.gitattributes'))
  return {
    instructions: await instructionsIn(paths, files, skills),
    left_out,
    mcp_file: text(MCP_FILE) ?? null,
  }
}

const textOf = (path: string, file: FileAt | undefined): InstructionText[] =>
  file === undefined ? [] : [instructionText(path, decoder.decode(file.bytes), file)]

async function instructionsIn(
  paths: InstructionPaths,
  files: ReadonlyMap<string, FileAt>,
  of_organization: readonly Skill[],
): Promise<RepositoryInstructions> {
  const textsOf = (wanted: string[]) => wanted.flatMap(path => textOf(path, files.get(path)))
  const rules = await inTurns(textsOf(paths.rules), readCursorRule)
  const always = rules.flatMap(rule => (rule.kind === 'always' ? [rule.file] : []))
  const read = await inTurns(textsOf(paths.skills), readSkill)
  const skills = uniqueSkills([...read.filter(skill => skill !== null), ...of_organization])
  const copilot = paths.copilot ? [COPILOT_FILE] : []
  const wanted = [...paths.root, ...copilot, ...paths.rules, ...paths.skills]
  const broken = wanted.filter(path => !files.has(path)).map(brokenNote)
  const all = [...textsOf(paths.root).slice(0, 1), ...textsOf(copilot), ...always].filter(
    ({ text }) => text.trim() !== '',
  )
  return fitInstructions({
    files: all,
    folders: paths.folders,
    rules: rules.flatMap((rule: CursorRule) => (rule.kind === 'listed' ? [rule.listed] : [])),
    skills: skills.skills,
    notes: [...broken, ...skills.notes],
  })
}

const CANNOT_BE_READ =
  'cannot be read: it is a link in a loop, or to something that is not a file of the repository.'
const brokenNote = (path: string) => `${path} ${CANNOT_BE_READ}`
