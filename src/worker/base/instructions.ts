import { INSTRUCTION_CHARS, INSTRUCTION_FILES, type InstructionFile } from '../../agent/phases/plan-agent.ts'
import { actionTool, type ServiceTool } from '../../contract/runs/action-tools.ts'
import { type LeftOut, leftOutBy, leftOutText } from '../../core/repositories/left-out.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import { readFilesAt } from '../../git/read/read-files.ts'
import { getCustomPrompt } from '../../store/access/accounts.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { type EntryRow, findEntries } from '../../store/runs/log-entries.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { DatabaseDeps, GitDeps } from '../deps.ts'
import type { Base } from './base.ts'

const LEFT_OUT_FILES = ['.gitmodules', '.gitattributes']
const decoder = new TextDecoder('utf-8', { fatal: false })

/** The instructions of a commit to agents, and what a clone of it lacks. Cached: a commit never changes, and reading it costs milliseconds. */
type CommitNotes = { file: InstructionFile | null; left_out: LeftOut | null }
const cache = new Map<string, CommitNotes>()
const MAX_CACHED = 200

/** Reads the instructions besides the prompt: of the organization, of the user who started the run, and of the repository if the organization enables that. */
export async function readInstructions(deps: DatabaseDeps & GitDeps, writer: RunWriter, run: RunRow, base: Base | null) {
  const [organization, user_custom_prompt] = await Promise.all([
    getOrganization(deps.db, writer.organization_id),
    getCustomPrompt(deps.db, writer.organization_id, run.user_id),
  ])
  const organization_rules = organization?.rules ?? null
  await showText(writer, actionTool.organization_rules, organization_rules)
  await showText(writer, actionTool.user_custom_prompt, user_custom_prompt)
  const started = performance.now()
  const notes = base === null ? { file: null, left_out: null } : await notesAt(deps.git, base.repository.id, base.sha)
  const instructions = organization?.enable_rules_detection === false ? null : notes.file
  if (run.turn === 1 && base !== null)
    await showRepository(writer, base.sha, { file: instructions, left_out: notes.left_out }, performance.now() - started)
  return { organization_rules, user_custom_prompt, instructions, left_out: notes.left_out }
}

/** Shows a text in the trace, unless it is the one that was shown last: texts may change between the turns of a run. */
async function showText(writer: RunWriter, tool_name: ServiceTool, content: string | null): Promise<void> {
  if (content === null) return
  const last = await lastShown(writer, tool_name)
  const shown = last === undefined ? null : (JSON.parse(last.body) as { tool_output: { content?: string } | null }).tool_output
  if (shown?.content === content) return
  await writer.append({ entries: [serviceAction(tool_name, {}, { status: 'ok', content }, 0)] })
}

async function lastShown(writer: RunWriter, tool_name: string | null): Promise<EntryRow | undefined> {
  const page = { skip: 0, limit: 1, reverse: true }
  const filter = { tool_name: tool_name === null ? undefined : [tool_name] }
  return (await findEntries(writer.db, writer.organization_id, writer.run_id, filter, page)).rows[0]
}

/** Shows the notes of the repository in the trace, once per run. */
async function showRepository(writer: RunWriter, sha: string, { file, left_out }: CommitNotes, duration_ms: number): Promise<void> {
  const entries = []
  if (file !== null) {
    const output = { status: 'ok', path: file.path, content: file.text, truncated: file.truncated }
    entries.push(serviceAction(actionTool.repository_instructions, { looked_for: [...INSTRUCTION_FILES], sha }, output, duration_ms))
  }
  if (left_out !== null)
    entries.push(serviceAction(actionTool.git_left_out, { sha }, { status: 'ok', ...left_out, output: leftOutText(left_out) }, 0))
  const [one] = entries
  if (one !== undefined && (await lastShown(writer, one.tool_name)) === undefined) await writer.append({ entries })
}

async function notesAt(git: GitHost, repository_id: number, sha: string): Promise<CommitNotes> {
  const key = `${repository_id}:${sha}`
  const found = cache.get(key)
  if (found !== undefined) return found
  const notes = await readNotes(git, repository_id, sha)
  for (const oldest of cache.size < MAX_CACHED ? [] : cache.keys().take(1)) cache.delete(oldest)
  cache.set(key, notes)
  return notes
}

/** Reads from the mirror: the agent cannot have written there. */
async function readNotes(git: GitHost, repository_id: number, sha: string): Promise<CommitNotes> {
  const files = await readFilesAt(git, repository_id, sha, [...INSTRUCTION_FILES, ...LEFT_OUT_FILES], INSTRUCTION_CHARS * 4)
  const text = (path: string) => {
    const found = files.get(path)
    return found && decoder.decode(found.bytes)
  }
  const left_out = leftOutBy(text('.gitmodules'), text('.gitattributes'))
  for (const path of INSTRUCTION_FILES) {
    const found = files.get(path)
    if (!found) continue
    const content = decoder.decode(found.bytes)
    const truncated = found.truncated || content.length > INSTRUCTION_CHARS
    return { file: { path, text: content.slice(0, INSTRUCTION_CHARS).toWellFormed(), truncated }, left_out }
  }
  return { file: null, left_out }
}
