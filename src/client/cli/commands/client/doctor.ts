import { command } from '../../command.ts'
import type { Finding } from '../../doctor/check.ts'
import { examine } from '../../doctor/examine.ts'
import { exit } from '../../exit.ts'
import { firstLine } from '../../plain-text.ts'
import type { Style } from '../../printer.ts'
import { version } from '../../version.ts'

const marks: Record<Finding['state'], { word: string; style: Style }> = {
  ok: { word: 'ok     ', style: 'green' },
  warning: { word: 'warning', style: 'yellow' },
  broken: { word: 'BROKEN ', style: 'red' },
}

export const doctor = command({
  name: 'doctor',
  summary: 'look at every part between here and a run, and name the mend of what is broken',
  takes: '',
  words: [0, 0],
  options: {},
  notes: [
    'The exit code is 1 when something is broken. A warning is no fault, but may not be meant.',
    'With --json: {"broken": n, "checks": [{check, state, detail, mend}]}.',
  ],
  async run({ settings, signal, print, json }) {
    const findings: Finding[] = []
    print.progress('looking …')
    for await (const finding of examine({ settings, signal, version, now: Date.now })) {
      findings.push(finding)
      if (json) continue
      const { word, style } = marks[finding.state]
      print.line(`${print.style(style, word)} ${finding.check}: ${firstLine(finding.detail)}`)
      if (finding.mend !== null) print.line(`        ${print.style('bold', `→ ${firstLine(finding.mend, 2_000)}`)}`)
      print.progress('looking …')
    }
    print.progress(null)
    const sick = findings.filter(({ state }) => state === 'broken').length
    if (json) print.json({ broken: sick, checks: findings })
    else print.note(sick === 0 ? 'nothing is broken' : `${sick} broken`)
    return sick === 0 ? exit.success : exit.failed
  },
})
