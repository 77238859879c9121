/** Colours and other terminal control sequences. */
const TERMINAL = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g
const FAILURE =
  /\b(?:not ok|fail(?:ed|ure|s|ing)?|errors?|exception|traceback|panic(?:ked)?|assert(?:ion)?(?:error)?|expected|fatal|undefined)\b|✗|✖|×/i
/** Lines shown before the first line that reports a failure. */
const BEFORE = 2

/** Returns an output as a terminal shows it at the end: without colours, and without overwritten text. */
export const plainOutput = (output: string): string =>
  output
    .replace(TERMINAL, '')
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map(line => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n')

/**
 * Returns the part of an output that explains why a command failed, at most `max` characters: its end, and,
 * when failures are reported earlier, the first lines that report them.
 */
export function failingExcerpt(output: string, max_chars: number): string {
  const text = plainOutput(output).trim()
  if (text.length <= max_chars) return text
  const tail = text.slice(-max_chars)
  const lines = text.split('\n')
  const first = lines.findIndex(line => FAILURE.test(line))
  const from = lines.slice(0, Math.max(0, first - BEFORE)).reduce((sum, line) => sum + line.length + 1, 0)
  if (first < 0 || from >= text.length - max_chars) return tail.toWellFormed()
  const half = Math.floor((max_chars - 3) / 2)
  return `${text.slice(from, from + half)}\n…\n${text.slice(-half)}`.toWellFormed().slice(0, max_chars)
}
