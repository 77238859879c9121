import { readFileSync } from 'node:fs'

const template = readFileSync(new URL('../prompts/plan-agent.md', import.meta.url), 'utf8')

export type InstructionFile = { path: string; text: string; truncated: boolean }

/** Files in which a repository speaks to agents: the first is the standard, the others count only where it is absent. */
export const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md', '.cursorrules'] as const
/** Characters of instructions that are given to the agent. */
export const INSTRUCTION_CHARS = 25_000

/** The system text of the plan agent; byte-stable during a turn, so that providers can cache it. */
export function planAgentInstructions(facts: {
  repository: string | null
  branch: string | null
  base_ref: string | null
  organization_rules: string | null
  user_custom_prompt: string | null
  instructions: InstructionFile | null
}): string {
  const place =
    facts.repository === null
      ? 'The workspace is an empty folder without a repository.'
      : `The workspace is a clone of ${facts.repository}, at ${facts.base_ref ?? 'its default branch'}, on the new branch ${facts.branch}.`
  const said = [
    ['Workspace', place],
    ['Rules of the organization', facts.organization_rules],
    ['What the person who started the run wants of every run', facts.user_custom_prompt],
    [`What the repository says (${facts.instructions?.path})`, facts.instructions?.text],
  ]
  return [template.trim(), ...said.flatMap(([title, text]) => (text ? [`## ${title}`, text] : []))].join('\n\n')
}
