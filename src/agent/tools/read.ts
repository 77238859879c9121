import { actionTool } from '../../contract/runs/action-tools.ts'
import {
  type OrganizationSkills,
  organizationSkill,
  SKILLS_FOLDER,
  skillPath,
} from '../../core/repositories/organization-skills.ts'
import { outputText } from '../../core/text/output-text.ts'
import { allOf, MODEL_CHARS, type Tool, type ToolContext, type ToolOutcome } from '../tool.ts'
import { workspacePath } from '../workspace-path.ts'
import { readLines } from './files.ts'
import { type LineWindow, lineWindow } from './line-window.ts'

const LINES = 2_000
const LINE_CHARS = 2_000
/** Characters of an outcome beside path and content. */
const RESERVED_CHARS = 1_000

export const read: Tool<'read'> = {
  name: actionTool.read,
  async run(context, { path, offset = 1, limit = LINES }) {
    const lines = { first: offset, count: limit }
    const file =
      (await readSkillLines(context.skills, path, lines)) ?? (await readLines(context, path, lines))
    if ('outcome' in file) return file.outcome
    const { bytes, cut, total_lines, total_bytes } = file.value
    if (offset > Math.max(total_lines, 1)) {
      const error = `${path} has ${total_lines} lines, so line ${offset} does not exist.`
      return { status: 'error', output: { status: 'error', path, error } }
    }
    const text = decoded(bytes, cut)
    if (text === null) return binary(path, total_bytes)
    const shown = await shownOf(text.output, MODEL_CHARS - RESERVED_CHARS - path.length, context)
    const last_line = shown.all && !cut ? Math.min(offset + limit - 1, total_lines) : offset + shown.lines - 1
    return {
      status: 'ok',
      output: {
        status: 'ok',
        path,
        content: shown.content,
        first_line: offset,
        last_line,
        total_lines,
        bytes: total_bytes,
        truncated: last_line < total_lines || shown.cut_lines,
        ...(text.escaped_bytes !== undefined && { escaped_bytes: text.escaped_bytes }),
      },
      truncated: !shown.all || cut || shown.cut_lines,
      whole: async redactor => allOf(await redactor.bytes(Buffer.from(text.output))),
    }
  },
}

/** Null: not text. `cut`: the last line continues, so a character that its end divides is left out. */
function decoded(bytes: Buffer, cut: boolean): { output: string; escaped_bytes?: number } | null {
  try {
    const output = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut })
    if (!output.includes('\0')) return { output }
  } catch {
    // Shown with its invalid bytes escaped, unless it is not text at all.
  }
  const { binary, ...text } = outputText(bytes)
  return binary === true ? null : text
}

function binary(path: string, bytes: number): ToolOutcome {
  const error = `${path} is a binary file (${bytes} bytes), not UTF-8 text. Inspect it with a command, for example file or xxd.`
  return { status: 'error', output: { status: 'error', path, error } }
}

/** As many whole lines as fit, redacted before they are cut. */
async function shownOf(text: string, max_chars: number, { redactor }: ToolContext) {
  const lines = (await redactor.text(text)).split(/(?<=\n)/)
  let content = ''
  let cut_lines = false
  for (const [i, line] of lines.entries()) {
    const shown = cutLine(line)
    if (i > 0 && content.length + shown.length > max_chars)
      return { content, lines: i, all: false, cut_lines }
    content += shown
    cut_lines ||= shown !== line
  }
  return { content, lines: lines.length, all: true, cut_lines }
}

function cutLine(line: string): string {
  const text = line.replace(/\r?\n$/, '')
  if (text.length <= LINE_CHARS) return line
  return `${text.slice(0, LINE_CHARS).toWellFormed()}… [line cut at ${LINE_CHARS} characters]${line.slice(text.length)}`
}

/**
 * Returns some lines of a skill of the organization, or of the list of them, as of a file. Null: the path is
 * not below their folder.
 */
async function readSkillLines(
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
