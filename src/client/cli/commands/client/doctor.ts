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
  summary: 'check everything between this machine and a run, and show how to fix problems',
  usage: [],
  words: [0, 0],
  options: {},
  notes: [
    'The exit code is 1 when something is broken. A warning is not an error, but may be unintended.',
    'With --json: {"broken": n, "checks": [{check, state, detail, fix}]}.',
  ],
  async run({ settings, signal, print, json }) {
    const findings: Finding[] = []
    print.progress('checking …')
    for await (const finding of examine({ settings, signal, version, now: Date.now })) {
      findings.push(finding)
      if (json) continue
      const { word, style } = marks[finding.state]
      print.line(`${print.style(style, word)} ${finding.check}: ${firstLine(finding.detail)}`)
      if (finding.fix !== null)
        print.line(`        ${print.style('bold', `→ ${firstLine(finding.fix, 2_000)}`)}`)
      print.progress('checking …')
    }
    print.progress(null)
    const broken_count = findings.filter(({ state }) => state === 'broken').length
    if (json) print.json({ broken: broken_count, checks: findings })
    else print.note(broken_count === 0 ? 'nothing is broken' : `${broken_count} broken`)
    return broken_count === 0 ? exit.success : exit.failed
  },
})
