import { folderOf, type InstructionText } from '../text/instruction-block.ts'
import { readFrontMatter } from './front-matter.ts'

/** A file that the agent reads when its description fits. */
export type ListedSkill = { path: string; name: string; description: string }
/** `note`: what is wrong with the file, for people. */
export type Skill = ListedSkill & { note: string | null }
/** A rule of Cursor: its text counts always, or it is listed, or only a person may use it. */
export type CursorRule =
  | { kind: 'always'; file: InstructionText }
  | { kind: 'listed'; listed: ListedSkill }
  | { kind: 'manual' }

const NAME_CHARS = 64
/** Characters of a description, as agentskills.io limits them. */
export const DESCRIPTION_CHARS = 1_024

/**
 * Reads the name and the description of a `SKILL.md`. One without front matter or description is listed by
 * its folder and its first line. Null: only people may start it.
 */
export function readSkill({ path, text }: Pick<InstructionText, 'path' | 'text'>): Skill | null {
  const { fields, body } = readFrontMatter(text)
  if (fields?.['disable-model-invocation'] === 'true') return null
  const folder = folderOf(path).split('/').at(-1) ?? ''
  const name = oneLine(fields?.name, NAME_CHARS) || oneLine(folder, NAME_CHARS)
  const description = oneLine(fields?.description, DESCRIPTION_CHARS)
  if (description !== '') return { path, name, description, note: null }
  const first = body.split(/\r?\n/).find(line => /[\p{L}\p{N}]/u.test(line)) ?? ''
  const missing = fields === null ? 'has no front matter' : 'has no description'
  const note = `${path} ${missing}, so agents see its first line instead of a description of when to use it.`
  return { path, name, description: oneLine(first.replace(/^#+\s*/, ''), DESCRIPTION_CHARS), note }
}

/** Reads a rule of `.cursor/rules`. */
export function readCursorRule(file: InstructionText): CursorRule {
  const { fields, body } = readFrontMatter(file.text)
  if (fields === null || fields.alwaysApply === 'true')
    return { kind: 'always', file: { ...file, text: body } }
  const globs = oneLine(fields.globs, NAME_CHARS * 4)
  const description = [globs === '' ? '' : `for ${globs}`, oneLine(fields.description, DESCRIPTION_CHARS)]
    .filter(Boolean)
    .join(': ')
  if (description === '') return { kind: 'manual' }
  return { kind: 'listed', listed: { path: file.path, name: file.path.split('/').at(-1) ?? '', description } }
}

/** Returns the first skill of each name, and notes about the others for the run. */
export function uniqueSkills(skills: readonly Skill[]): { skills: Skill[]; notes: string[] } {
  const known = new Map<string, Skill>()
  const notes: string[] = []
  for (const skill of skills) {
    const first = known.get(skill.name)
    if (first === undefined) known.set(skill.name, skill)
    else notes.push(`${skill.path} has the name of ${first.path}, so it is not listed.`)
    if (first === undefined && skill.note !== null) notes.push(skill.note)
  }
  return { skills: [...known.values()], notes }
}

const oneLine = (text: string | undefined, max_chars: number): string =>
  (text ?? '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, max_chars)
    .toWellFormed()
