import { commandsOf } from '../shell-lines.ts'
import { asText, asTexts, asValues, valueAt, yamlOf } from '../tree.ts'
import { kindOf } from './kind-of-command.ts'

type HintedCommand = { command: string; setup: boolean }
const MAX_JOBS = 20

/** Returns the steps that prepare the machine of another agent. */
export function copilotStepHints(text: string): HintedCommand[] {
  const steps = valueAt(yamlOf(text), 'jobs', 'copilot-setup-steps', 'steps')
  return commandsOfSteps(steps).map(command => ({ command, setup: true }))
}

/** Returns the steps of a test job, up to its tests. Jobs that only release or lint are skipped. */
export function workflowHints(text: string): HintedCommand[] {
  const file = yamlOf(text)
  const jobs = Object.values(asValues(file?.jobs) ?? {}).slice(0, MAX_JOBS)
  const of_jobs = jobs.filter(runsHere).map(job => commandsOfSteps(asValues(job)?.steps))
  const of_lists = Object.entries(file ?? {})
    .slice(0, MAX_JOBS)
    .map(([name, job]) => [
      ...(name === 'script' ? listed(job) : []),
      ...listed(asValues(job)?.before_script),
      ...listed(asValues(job)?.script),
    ])
  const testing = [...of_jobs, ...of_lists].find(commands => commands.some(isTest)) ?? []
  const last = testing.findLastIndex(isTest)
  return testing.slice(0, last + 1).map(command => ({ command, setup: false }))
}

const isTest = (command: string) => kindOf(command).kind === 'test'

const listed = (value: unknown): string[] =>
  (typeof value === 'string' ? [value] : asTexts(value)).flatMap(commandsOf)

/** Jobs for Windows or macOS only would be misleading for Linux. */
const runsHere = (job: unknown) => !/^(?:windows|macos)/i.test(asText(asValues(job)?.['runs-on']) ?? '')

function commandsOfSteps(steps: unknown): string[] {
  return (Array.isArray(steps) ? steps.slice(0, 60) : []).flatMap(step => {
    const { run, shell, if: condition, 'working-directory': folder } = asValues(step) ?? {}
    const script = asText(run)
    if (
      script === null ||
      /pwsh|powershell|cmd|python/.test(asText(shell) ?? '') ||
      /windows|macos/i.test(asText(condition) ?? '')
    )
      return []
    const into = asText(folder)
    const commands = commandsOf(script)
    if (into === null || into === '.' || into === '..') return commands
    return /^[\w./-]+$/.test(into) && !into.includes('..') && !into.startsWith('/')
      ? commands.map(command => `(cd ${into} && ${command})`)
      : []
  })
}
