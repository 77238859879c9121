import { INSTRUCTION_CHARS, INSTRUCTION_FILES, type InstructionFile } from '../../agent/phases/plan-agent.ts'
import { type LeftOut, leftOutBy, leftOutText } from '../../core/repositories/left-out.ts'
import { readFilesAt } from '../../git/read/read-files.ts'
import { getCustomPrompt } from '../../store/access/accounts.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { type EntryRow, findEntries } from '../../store/runs/log-entries.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import type { Base } from './base.ts'

const LEFT_OUT_FILES = ['.gitmodules', '.gitattributes']
const decoder = new TextDecoder('utf-8', { fatal: false })

/** What commits say to agents and what a clone of them lacks, of the last commits asked for: a commit never changes, and a process for each look costs milliseconds. */
type Said = { file: InstructionFile | null; left_out: LeftOut | null }
const known = new Map<string, Said>()
const MOST_KNOWN = 200

/**
 * What the agent of a run is told besides its prompt: by the organization, by the user who started the run, and by the repository where
 * the organization wants that.
 */
export async function readInstructions(deps: WorkerDeps, writer: RunWriter, user_id: number, base: Base | null, first_turn: boolean) {
  const [organization, user_custom_prompt] = await Promise.all([
    getOrganization(deps.db, writer.organization_id),
    getCustomPrompt(deps.db, writer.organization_id, user_id),
  ])
  const organization_rules = organization?.rules ?? null
  await showSaid(writer, 'organization_rules', organization_rules)
  await showSaid(writer, 'user_custom_prompt', user_custom_prompt)
  const started = performance.now()
  const said = base === null ? { file: null, left_out: null } : await saidAt(deps, base.repository.id, base.sha)
  const instructions = organization?.enable_rules_detection === false ? null : said.file
  if (first_turn && base !== null)
    await showRepository(writer, base.sha, { file: instructions, left_out: said.left_out }, performance.now() - started)
  return { organization_rules, user_custom_prompt, instructions, left_out: said.left_out }
}

/** Shows a text of people in the trace, unless it is the one that was shown last: texts may change between the turns of a run. */
async function showSaid(writer: RunWriter, tool_name: string, content: string | null): Promise<void> {
  if (content === null) return
  const last = await lastShown(writer, tool_name)
  const shown = last === undefined ? null : (JSON.parse(last.body) as { tool_output: { content?: string } | null }).tool_output
  if (shown?.content === content) return
  await writer.append({ entries: [serviceAction(tool_name, {}, { status: 'ok', content }, 0)] })
}

async function lastShown(writer: RunWriter, tool_name: string | null): Promise<EntryRow | undefined> {
  const page = { skip: 0, limit: 1, reverse: true }
  return (
    await findEntries(writer.db, writer.organization_id, writer.run_id, { tool_name: tool_name === null ? undefined : [tool_name] }, page)
  ).rows[0]
}

/** The instructions that the repository gives to agents, and what is not there of it; once, whichever of the run's owners did. */
async function showRepository(writer: RunWriter, sha: string, { file, left_out }: Said, duration_ms: number): Promise<void> {
  const entries = []
  if (file !== null) {
    const output = { status: 'ok', path: file.path, content: file.text, truncated: file.truncated }
    entries.push(serviceAction('repository_instructions', { looked_for: [...INSTRUCTION_FILES], sha }, output, duration_ms))
  }
  if (left_out !== null)
    entries.push(serviceAction('git_left_out', { sha }, { status: 'ok', ...left_out, output: leftOutText(left_out) }, 0))
  const [one] = entries
  if (one !== undefined && (await lastShown(writer, one.tool_name)) === undefined) await writer.append({ entries })
}

async function saidAt(deps: WorkerDeps, repository_id: number, sha: string): Promise<Said> {
  const key = `${repository_id}:${sha}`
  const found = known.get(key)
  if (found !== undefined) return found
  const said = await readSaid(deps, repository_id, sha)
  for (const oldest of known.size < MOST_KNOWN ? [] : known.keys().take(1)) known.delete(oldest)
  known.set(key, said)
  return said
}

/** Read from the mirror, where the agent has written nothing. */
async function readSaid(deps: WorkerDeps, repository_id: number, sha: string): Promise<Said> {
  const files = await readFilesAt(deps.git, repository_id, sha, [...INSTRUCTION_FILES, ...LEFT_OUT_FILES], INSTRUCTION_CHARS * 4)
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
