import { actionTool } from '../contract/runs/action-tools.ts'
import type { Playbook, PlaybookStep } from '../core/runs/playbook.ts'
import { ModelError } from './port.ts'
import type { SeenCall } from './scripted-messages.ts'

/** The next response of the scripted model. */
export type Move = {
  reasoning: string | null
  text: string
  calls: { name: string; input: Record<string, unknown> }[]
}

/** One response of the script: a step with the thoughts before it. `step` is null for the closing summary. */
export type Unit = { number: number; thought: string | null; step: PlaybookStep | null }

/** Returns the responses that play a playbook; the last one ends the turn. */
export function toUnits(playbook: Playbook): Unit[] {
  const units: Unit[] = []
  let thoughts: string[] = []
  for (const [index, step] of playbook.steps.entries()) {
    if (step.kind === 'thought') {
      thoughts.push(step.text.trim())
      continue
    }
    units.push({ number: index + 1, thought: thoughts.join('\n') || null, step })
    thoughts = []
  }
  if (units.at(-1)?.step?.kind !== 'answer')
    units.push({ number: playbook.steps.length + 1, thought: thoughts.join('\n') || null, step: null })
  return units
}

/** Returns the text and the tool calls of the next step of a playbook; after the last step, its summary. */
export function moveOf(unit: Unit, playbook: Playbook): Move {
  const { step, thought: reasoning } = unit
  const call = (name: string, input: Record<string, unknown>): Move => ({
    reasoning,
    text: '',
    calls: [{ name, input }],
  })
  switch (step?.kind) {
    case 'plan':
      return call(actionTool.plan, { items: step.items.map(text => ({ text, state: 'pending' })) })
    case 'run':
      return call(actionTool.shell, {
        command: step.command,
        ...(step.timeout_seconds === null ? {} : { timeout_seconds: step.timeout_seconds }),
      })
    case 'write':
      return call(actionTool.write, { path: step.path, content: step.content })
    case 'edit':
      return call(actionTool.edit, { path: step.path, old: step.old, new: step.new })
    case 'ask':
      return call(actionTool.ask, { question: step.question })
    case 'answer':
      return { reasoning, text: step.text, calls: [] }
    default:
      return { reasoning, text: summary(playbook), calls: [] }
  }
}

/** Returns the call that inspects the file of an interrupted edit. */
export function inspectionOf({ step }: Unit): Move {
  const path = step?.kind === 'edit' ? step.path : ''
  const reasoning = 'The edit was interrupted: check whether it took effect.'
  return { reasoning, text: '', calls: [{ name: actionTool.read, input: { path } }] }
}

function summary(playbook: Playbook): string {
  const count = (kind: PlaybookStep['kind'], one: string, many: string) => {
    const found = playbook.steps.filter(step => step.kind === kind).length
    return found === 0 ? [] : [found === 1 ? `1 ${one}` : `${found} ${many}`]
  }
  const parts = [
    ...count('run', 'command', 'commands'),
    ...count('write', 'file written', 'files written'),
    ...count('edit', 'edit', 'edits'),
    ...count('ask', 'question', 'questions'),
  ]
  const what = parts.length > 0 ? ` (${parts.join(', ')})` : ''
  return `Scripted run without a language model: all steps of the playbook ran as written${what}. The playbook gives no answer of its own.`
}

/**
 * Compares the result of a step with what the playbook expects. Throws `script_failed`, which names step,
 * line and result.
 */
export function checkResult(unit: Unit, calls: SeenCall[]): void {
  const { step } = unit
  const result = calls[0]?.result
  if (!step) return
  if (!result) throw failed(unit, `${describe(step)} has no result`, '')
  if (step.kind !== 'run') {
    if (result.status !== 'ok')
      throw failed(unit, `${describe(step)} did not work (${result.status})`, result.text)
    return
  }
  if (result.status === 'interrupted')
    throw failed(
      unit,
      `${describe(step)} was interrupted, and it is unknown whether it took effect: check, then resume with a playbook of the remaining steps`,
      result.text,
    )
  const { exit_code: exit } = result.value
  if (result.status !== 'ok' && result.status !== 'error')
    throw failed(
      unit,
      `${describe(step)} ended as ${result.status}, expected exit ${step.expect_exit}`,
      result.text,
    )
  if (exit !== step.expect_exit)
    throw failed(
      unit,
      `${describe(step)} exited ${exit ?? 'without a code'}, expected ${step.expect_exit}`,
      result.text,
    )
}

function describe(step: PlaybookStep): string {
  if (step.kind === 'run') return `run ${JSON.stringify(step.command.trim().slice(0, 500))}`
  return step.kind === 'write' || step.kind === 'edit'
    ? `${step.kind} ${JSON.stringify(step.path.slice(0, 500))}`
    : step.kind
}

/**
 * Returns the ModelError `script_failed` that names the step and its line, with the last 20 lines of its
 * output.
 */
export function failed(unit: Unit, what: string, output: string): ModelError {
  const tail = output.trimEnd().split('\n').slice(-20).join('\n').slice(-2_000)
  const last_output = tail.trim() === '' ? '' : `\nLast output:\n${tail}`
  const { step } = unit
  const tool_name = step === null ? null : (toolOf[step.kind] ?? null)
  return new ModelError(
    'script_failed',
    `Playbook step ${unit.number} (line ${step?.line ?? '?'}): ${what}.${last_output}`,
    { tool_name },
  )
}

/** The tool that a step of this kind calls. */
const toolOf: Partial<Record<PlaybookStep['kind'], string>> = {
  plan: actionTool.plan,
  run: actionTool.shell,
  write: actionTool.write,
  edit: actionTool.edit,
  ask: actionTool.ask,
}
