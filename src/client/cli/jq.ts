import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { CliError, UsageError } from './exit.ts'
import { plainText } from './plain-text.ts'
import type { Printer } from './printer.ts'

/** Filters documents with the program jq. `end` resolves when the last result is printed. */
type Jq = { filter(document: unknown): void; end(): Promise<void> }

/**
 * Starts jq, whose results go to the printer: texts without quotes, everything else as JSON. Throws CliError
 * when jq is not installed and UsageError for an invalid expression, before the command does anything. `end`
 * throws CliError when jq failed for a document.
 */
export function startJq(expression: string, print: Printer): Jq {
  // A space first, because a minus sign would make it an option.
  const args = ['-r', '-M', '--unbuffered', ...(print.width === null ? ['-c'] : []), ` ${expression}`]
  requireValid(args)
  const jq = spawn('jq', args)
  const closed = once(jq, 'close')
  const problems = text(jq.stderr)
  // An expression may end before its input does.
  jq.stdin.on('error', () => {})
  let unfinished = ''
  jq.stdout.setEncoding('utf8').on('data', piece => {
    const lines = (unfinished + piece).split('\n')
    unfinished = lines.pop() ?? ''
    for (const line of lines) print.line(print.width === null ? line : plainText(line))
  })
  return {
    filter: document => void jq.stdin.write(`${JSON.stringify(document)}\n`),
    async end() {
      jq.stdin.end()
      const [code] = await closed
      if (code) throw new CliError(`--jq: ${messageOf(await problems)}`)
    },
  }
}

/** Without input jq only compiles the expression. */
function requireValid(args: string[]): void {
  const { error, status, stderr } = spawnSync('jq', args, { input: '', encoding: 'utf8' })
  if (error)
    throw new CliError('--jq needs the program jq, which is not installed: install it, or use --json')
  if (status !== 0) throw new UsageError(`--jq: ${messageOf(stderr)}`)
}

const messageOf = (problems: string) =>
  plainText(problems.trim().split('\n')[0] ?? '').replace(/^jq: error: /, '')
