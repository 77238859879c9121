import {
  type OrganizationSkills,
  organizationSkill,
  SKILLS_FOLDER,
  skillPath,
} from '../../core/repositories/organization-skills.ts'
import type { ToolOutcome } from '../tool.ts'
import { workspacePath } from '../workspace-path.ts'
import { type LineWindow, lineWindow } from './line-window.ts'

/**
 * Returns some lines of a skill of the organization, or of the list of them, as of a file. Null: the path is
 * not below their folder.
 */
export async function readSkillLines(
  { list, read }: OrganizationSkills,
  path: string,
  { first, count }: { first: number; count: number },
): Promise<{ value: LineWindow } | { outcome: ToolOutcome } | null> {
  const normal = workspacePath(path)
  const skill = skillPath(normal)
  if (skill === null) return null
  const content = skill.name === null ? null : await read(skill.name)
  const all = content === null ? (await list()).map(organizationSkill) : []
  if (content === null && normal !== SKILLS_FOLDER) {
    const named = all.length === 0 ? 'It has none.' : `It has ${all.map(one => one.path).join(', ')}.`
    return {
      outcome: {
        status: 'error',
        output: { status: 'error', path, error: `The organization has no skill ${path}. ${named}` },
      },
    }
  }
  const text = content ?? all.map(one => `- ${one.name} (${one.path}): ${one.description}\n`).join('')
  const bytes = Buffer.from(text)
  const window = lineWindow(first, count, bytes.length)
  window.add(bytes)
  return { value: window.finish() }
}
