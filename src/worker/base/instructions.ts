import { actionTool, type ServiceTool } from '../../contract/runs/action-tools.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { FOLDER_FILES } from '../../core/repositories/instruction-files.ts'
import { leftOutText } from '../../core/repositories/left-out.ts'
import {
  fitInstructions,
  instructionsSection,
  NO_INSTRUCTIONS,
  type RepositoryInstructions,
} from '../../core/repositories/repository-instructions.ts'
import { isFirstClaim } from '../../core/runs/first-claim.ts'
import { getCustomPrompt } from '../../store/access/accounts.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import type { NewEntry } from '../../store/runs/append.ts'
import { type EntryRow, findEntries } from '../../store/runs/log-entries.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'
import type { Base } from './base.ts'
import { type CommitNotes, commitNotes } from './commit-notes.ts'
import { listedSkills } from './organization-skills.ts'

/**
 * Reads the instructions in addition to the prompt: of the organization, of the user who started the run, and
 * of the repository if the organization enables that.
 */
export async function readInstructions(
  deps: Pick<WorkerServices, 'db' | 'git' | 'git_limits'>,
  writer: RunWriter,
  run: RunRow,
  base: Base | null,
) {
  const [organization, user_custom_prompt, skills] = await Promise.all([
    getOrganization(deps.db, writer.organization_id),
    getCustomPrompt(deps.db, writer.organization_id, run.user_id),
    run.tools_off.includes(actionTool.read) ? [] : listedSkills(deps.db, writer.organization_id),
  ])
  const organization_rules = organization?.rules ?? null
  const lastOf = async (tool_name: ServiceTool) =>
    isFirstClaim(run) ? undefined : lastShown(writer, tool_name)
  await showText(writer, lastOf, actionTool.organization_rules, organization_rules)
  await showText(writer, lastOf, actionTool.user_custom_prompt, user_custom_prompt)
  const started = performance.now()
  const at = base && { repository_id: base.repository.id, sha: base.sha }
  const notes =
    at === null
      ? { instructions: null, left_out: null, mcp_file: null }
      : await commitNotes(deps.git, at, skills)
  const found = organization?.enable_rules_detection === false ? null : notes.instructions
  const instructions = found ?? (skills.length === 0 ? null : fitInstructions({ ...NO_INSTRUCTIONS, skills }))
  if (run.turn === 1)
    await showRepository(
      writer,
      lastOf,
      base?.sha ?? null,
      { ...notes, instructions },
      performance.now() - started,
    )
  return {
    organization_rules,
    user_custom_prompt,
    instructions,
    left_out: notes.left_out,
    mcp_file: notes.mcp_file,
  }
}

/**
 * Shows a text in the trace, unless it is the one that was shown last: texts may change between the turns of
 * a run.
 */
async function showText(
  writer: RunWriter,
  lastOf: LastOf,
  tool_name: ServiceTool,
  content: string | null,
): Promise<void> {
  if (content === null) return
  const last = await lastOf(tool_name)
  const shown =
    last === undefined
      ? null
      : storedJson<{ tool_output: { content?: string } | null }>(last.body).tool_output
  if (shown?.content === content) return
  await writer.append({ entries: [serviceAction(tool_name, {}, { status: 'ok', content }, 0)] })
}

/** Returns the last entry of a tool. */
type LastOf = (tool_name: ServiceTool) => Promise<EntryRow | undefined>

async function lastShown(writer: RunWriter, tool_name: ServiceTool): Promise<EntryRow | undefined> {
  const page = { skip: 0, limit: 1, reverse: true }
  return (
    await findEntries(writer.db, writer.organization_id, writer.run_id, { tool_name: [tool_name] }, page)
  ).rows[0]
}

/** Shows the notes of the repository, and the skills of the organization, in the trace, once per run. */
async function showRepository(
  writer: RunWriter,
  lastOf: LastOf,
  sha: string | null,
  notes: CommitNotes,
  duration_ms: number,
): Promise<void> {
  const entries: NewEntry[] = []
  const { instructions, left_out } = notes
  const output = instructions && shownInstructions(instructions)
  if (output !== null)
    entries.push(
      serviceAction(
        actionTool.repository_instructions,
        { looked_for: [...FOLDER_FILES], sha },
        output,
        duration_ms,
      ),
    )
  if (left_out !== null)
    entries.push(
      serviceAction(
        actionTool.git_left_out,
        { sha },
        { status: 'ok', ...left_out, output: leftOutText(left_out) },
        0,
      ),
    )
  const tool_name = output === null ? actionTool.git_left_out : actionTool.repository_instructions
  if (entries.length > 0 && (await lastOf(tool_name)) === undefined) await writer.append({ entries })
}

/** `content`: the text as the agent gets it. Null: the repository has nothing for agents. */
function shownInstructions(found: RepositoryInstructions): Record<string, unknown> | null {
  const { files, folders, rules, skills, notes } = found
  const content = instructionsSection(found) ?? ''
  if (content === '' && notes.length === 0) return null
  return {
    status: 'ok',
    path: files.map(({ path }) => path).join(', ') || null,
    content,
    truncated: files.some(file => file.truncated),
    files: files.map(({ path, bytes, truncated }) => ({ path, bytes, truncated })),
    folders: [...folders.keys()],
    rules: rules.map(({ path }) => path),
    skills: skills.map(({ name, path }) => ({ name, path })),
    notes,
  }
}
