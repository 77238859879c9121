import { actionTool } from '../../contract/runs/action-tools.ts'
import { outputText } from '../../core/text/output-text.ts'
import { shellQuote } from '../../core/text/shell-quote.ts'
import { type Tool, WHOLE_BYTES } from '../tool.ts'

const SECONDS = 60
/** How many matches trace and model get, and how many are searched and stored. */
const SHOWN_BYTES = 48 * 1024
const SHOWN_MATCHES = 400
const KEPT_MATCHES = 10_000
/** Characters of a line that are shown, and that are redacted before: a value at the edge is complete then. */
const LINE_CHARS = 500
const LINE_READ = 2_000
/** What a shell reports of a program whose reader had enough. */
const PIPE_CLOSED = 141

export const search: Tool<'search'> = {
  name: actionTool.search,
  async run(context, input) {
    const sandbox = await context.sandbox()
    const path = shellQuote(input.path ?? '.')
    const pattern = shellQuote(input.pattern)
    const glob = input.glob === undefined ? null : shellQuote(input.glob)
    // git grep knows what is ignored; outside a repository plain grep does.
    const inRepository = `git grep --untracked -nIE --no-color -e ${pattern} -- ${path}${glob ? ` | { g=${glob}; while IFS= read -r l; do f=\${l%%:*}; case "\${f##*/}" in $g) printf '%s\\n' "$l";; esac; done; }` : ''}`
    const plain = `grep -rnIE --color=never --exclude-dir=.git ${glob ? `--include=${glob} ` : ''}-e ${pattern} -- ${path}`
    const command = `if git rev-parse --is-inside-work-tree >/dev/null 2>&1 && [ ! -L ${path} ]; then ${inRepository}; else ${plain}; fi | cut -c1-${LINE_READ} | head -n ${KEPT_MATCHES}; exit "\${PIPESTATUS[0]}"`
    const result = await sandbox.exec({
      command,
      shell: 'separate',
      timeout_ms: SECONDS * 1000,
      max_output_bytes: WHOLE_BYTES,
      signal: context.signal,
    })
    if (result.status === 'timeout')
      return {
        status: 'timeout',
        output: { status: 'timeout', error: `The search took longer than ${SECONDS} s.` },
        error: { code: 'tool_timeout', message: `The search took longer than ${SECONDS} s.` },
      }
    if (result.status === 'interrupted') return { status: 'interrupted', output: { status: 'interrupted' } }
    const clean = await context.redactor.bytes(result.output, result.truncated ? Math.ceil(WHOLE_BYTES / 2) : undefined)
    const { output } = outputText(clean)
    const lines = output.split('\n').flatMap(line => (line === '' ? [] : [line.slice(0, LINE_CHARS).toWellFormed()]))
    if (result.exit_code !== null && result.exit_code > 1 && result.exit_code !== PIPE_CLOSED)
      return { status: 'error', output: { status: 'error', error: output.trim() || 'the search failed' } }
    const matches = firstOf(lines)
    const truncated = result.truncated || lines.length > matches.length
    return {
      status: 'ok',
      output: { status: 'ok', matches, count: matches.length, truncated },
      truncated,
      whole: () => {
        const bytes = Buffer.from(lines.join('\n'))
        return { bytes, total_bytes: bytes.length + result.output_bytes - result.output.length }
      },
    }
  },
}

function firstOf(lines: string[]): string[] {
  let bytes = 0
  const beyond = lines.slice(0, SHOWN_MATCHES).findIndex(line => {
    bytes += Buffer.byteLength(line) + 1
    return bytes > SHOWN_BYTES
  })
  return lines.slice(0, beyond < 0 ? SHOWN_MATCHES : beyond)
}
