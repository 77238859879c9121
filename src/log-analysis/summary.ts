import type { Finding } from './finding.ts'

/** What was analyzed, and what was omitted. */
export type AnalyzedAmount = { runs: number; entries: number; commands: number; left_out: string[] }

/** Returns the answer in a sentence or two. */
export function summarize(findings: readonly Finding[], analyzed: AnalyzedAmount): string {
  const [root] = findings.filter(({ severity }) => severity === 'error')
  const at = `${analyzed.commands} command${analyzed.commands === 1 ? '' : 's'} in ${analyzed.entries} ${analyzed.entries === 1 ? 'entry' : 'entries'}${analyzed.runs === 1 ? '' : ` of ${analyzed.runs} runs`}`
  const left = analyzed.left_out.length > 0 ? ` Left out: ${analyzed.left_out.join('; ')}.` : ''
  if (root) {
    const errors = findings.filter(({ severity }) => severity === 'error').length - 1
    const others = errors === 0 ? '' : ` ${errors} more ${errors === 1 ? 'error follows' : 'errors follow'}.`
    return `${sentence(root.message)}${root.cause ? ` ${sentence(root.cause)}` : ''}${reference(root)}${others} Analyzed ${at}.${left}`
  }
  const warning = findings.find(({ severity }) => severity === 'warning')
  if (warning)
    return `The failures are resolved, but: ${sentence(warning.message)}${reference(warning)} Analyzed ${at}.${left}`
  const info = findings.find(({ severity, code }) => severity === 'info' && code !== 'slowest_steps')
  if (info)
    return `No failure is left. For information: ${sentence(info.message)}${reference(info)} Analyzed ${at}.${left}`
  return `No failure was found. Analyzed ${at}.${left}`
}

const sentence = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`)
const reference = ({ seq, agent_run_id }: Finding) => (seq === null ? '' : ` (run ${agent_run_id}, #${seq})`)
