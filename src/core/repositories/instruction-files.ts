import { folderOf, type InstructionText } from '../text/instruction-block.ts'
import { storedText } from '../text/stored-text.ts'

/**
 * Files with instructions for agents that a folder may have: the first of them that can be read counts for
 * the files below it.
 */
export const FOLDER_FILES = ['AGENTS.md', 'CLAUDE.md', '.cursorrules'] as const
/** Counts as well, for the whole repository. */
export const COPILOT_FILE = '.github/copilot-instructions.md'
/** Characters of instructions that the agent gets at the start, and with one result of a tool. */
export const INSTRUCTION_CHARS = 25_000

const CURSOR_RULE = /^\.cursor\/rules\/(?:[^/]+\/)*[^/]+\.mdc?$/
const SKILL = /^\.(?:agents|claude|github)\/skills\/[^/]+\/SKILL\.md$/
/** A name that could end the line or the mark in which the agent sees it is not a name of instructions. */
const PRINTABLE = /^[^\p{Cc}\p{Cf}"<>`\ufffd]{1,300}$/u
const MAX = { folders: 500, rules: 50, skills: 50 }

/** `root`: candidates at the root, the best first. `folders`: folder → candidates in it. */
export type InstructionPaths = {
  root: string[]
  copilot: boolean
  folders: Map<string, string[]>
  rules: string[]
  skills: string[]
}

/** Returns whether a path of a repository may hold instructions for agents. */
export const isInstructionPath = (path: string): boolean =>
  (FOLDER_FILES.some(name => path === name || path.endsWith(`/${name}`)) ||
    path === COPILOT_FILE ||
    CURSOR_RULE.test(path) ||
    SKILL.test(path)) &&
  PRINTABLE.test(path)

/** Sorts the paths for which `isInstructionPath` is true; what exceeds the limits is left out. */
export function sortInstructionPaths(paths: readonly string[]): InstructionPaths {
  const folders = new Map<string, string[]>()
  for (const name of FOLDER_FILES)
    for (const path of paths) {
      if (!path.endsWith(`/${name}`) || (folders.size >= MAX.folders && !folders.has(folderOf(path))))
        continue
      folders.set(folderOf(path), [...(folders.get(folderOf(path)) ?? []), path])
    }
  return {
    root: FOLDER_FILES.filter(name => paths.includes(name)),
    copilot: paths.includes(COPILOT_FILE),
    folders,
    rules: paths.filter(path => CURSOR_RULE.test(path)).slice(0, MAX.rules),
    skills: paths.filter(path => SKILL.test(path)).slice(0, MAX.skills),
  }
}

export const instructionText = (
  path: string,
  text: string,
  file: { size: number; truncated: boolean },
): InstructionText => ({
  path,
  text: storedText(text),
  bytes: file.size,
  truncated: file.truncated,
})

/**
 * Cuts the files so that their texts together have at most `max_chars`: the first in the list get what they
 * need. A copy of an earlier file has a note instead of its text.
 */
export function withinChars(files: readonly InstructionText[], max_chars: number): InstructionText[] {
  let left = max_chars
  const seen = new Map<string, string>()
  return files.map(file => {
    const content = file.text.trim()
    const first = seen.get(content)
    if (file.note === undefined && first !== undefined)
      return { ...file, text: '', note: `has the same text as ${first}.` }
    if (file.note === undefined) seen.set(content, file.path)
    const text = file.text.slice(0, left).toWellFormed()
    left -= text.length
    return { ...file, text, truncated: file.truncated || text.length < file.text.length }
  })
}
