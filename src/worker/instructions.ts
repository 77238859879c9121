import { INSTRUCTION_CHARS, INSTRUCTION_FILES, type InstructionFile } from '../agent/phases/plan-agent.ts'
import { readFilesAt } from '../git/read-files.ts'
import { getCustomPrompt } from '../store/accounts.ts'
import { findEntries } from '../store/log-entries.ts'
import { getOrganization } from '../store/organizations.ts'
import { serviceAction } from '../trace/agent-entries.ts'
import type { Base } from './base.ts'
import type { Claim } from './claim.ts'
import type { WorkerDeps } from './settings.ts'

const decoder = new TextDecoder('utf-8', { fatal: false })

/** What commits say to agents, of the last commits asked for: a commit never changes, and a process for each look costs milliseconds. */
const known = new Map<string, InstructionFile | null>()
const MOST_KNOWN = 200

/**
 * What the agent of a run is told besides its prompt: by the organization, by the user who started the run, and by the repository where
 * the organization wants that.
 */
export async function readInstructions(deps: WorkerDeps, claim: Claim, user_id: number, base: Base | null, first: boolean) {
  const [organization, user_custom_prompt] = await Promise.all([
    getOrganization(deps.db, claim.organization_id),
    getCustomPrompt(deps.db, claim.organization_id, user_id),
  ])
  const organization_rules = organization?.rules ?? null
  await showSaid(claim, 'organization_rules', organization_rules)
  await showSaid(claim, 'user_custom_prompt', user_custom_prompt)
  const instructions = organization?.enable_rules_detection === false ? null : await readRepositoryFile(deps, claim, base, first)
  return { organization_rules, user_custom_prompt, instructions }
}

/** Shows a text of people in the trace, unless it is the one that was shown last: texts may change between the turns of a run. */
async function showSaid(claim: Claim, tool_name: string, content: string | null): Promise<void> {
  if (content === null) return
  const { rows } = await findEntries(claim.db, claim.organization_id, claim.run_id, { tool_name }, { skip: 0, limit: 1, reverse: true })
  const shown = rows[0] === undefined ? null : (JSON.parse(rows[0].body) as { tool_output: { content?: string } | null }).tool_output
  if (shown?.content === content) return
  await claim.append({ entries: [serviceAction(tool_name, {}, { status: 'ok', content }, 0)] })
}

/** The instructions that the repository gives to agents, read from the mirror at the run's base, and shown in the trace once. */
async function readRepositoryFile(deps: WorkerDeps, claim: Claim, base: Base | null, show: boolean): Promise<InstructionFile | null> {
  if (base === null) return null
  const started = performance.now()
  const file = await instructionsAt(deps, base.repository.id, base.sha)
  if (file !== null && show) {
    const output = { status: 'ok', path: file.path, content: file.text, truncated: file.truncated }
    await claim.append({
      entries: [
        serviceAction(
          'repository_instructions',
          { looked_for: [...INSTRUCTION_FILES], sha: base.sha },
          output,
          performance.now() - started,
        ),
      ],
    })
  }
  return file
}

async function instructionsAt(deps: WorkerDeps, repository_id: number, sha: string): Promise<InstructionFile | null> {
  const key = `${repository_id}:${sha}`
  const found = known.get(key)
  if (found !== undefined) return found
  const file = await readInstructionFile(deps, repository_id, sha)
  for (const oldest of known.size < MOST_KNOWN ? [] : known.keys().take(1)) known.delete(oldest)
  known.set(key, file)
  return file
}

async function readInstructionFile(deps: WorkerDeps, repository_id: number, sha: string): Promise<InstructionFile | null> {
  const files = await readFilesAt(deps.git, repository_id, sha, [...INSTRUCTION_FILES], INSTRUCTION_CHARS * 4)
  for (const path of INSTRUCTION_FILES) {
    const found = files.get(path)
    if (!found) continue
    const text = decoder.decode(found.bytes)
    return { path, text: text.slice(0, INSTRUCTION_CHARS).toWellFormed(), truncated: found.truncated || text.length > INSTRUCTION_CHARS }
  }
  return null
}
