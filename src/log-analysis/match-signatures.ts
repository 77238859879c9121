import { type Signature, signatures } from './signatures/table.ts'

/** `line`: the index of the line, for ordering only. */
export type Match = { signature: Signature; line: number; text: string; caught: string[] }

/**
 * Lines of one output that are matched against the table; a log that consists of errors is covered by that
 * many.
 */
const MAX_LINES = 3_000
const MAX_MATCHES = 8
const CAUGHT_CHARACTERS = 200

/** A cheap prefilter: every line that reports a problem contains one of these. */
const MAYBE_ERROR =
  /err|fail|fatal|exception|warn|not |n't|no |un[a-z]|kill|den(?:y|ied)|refuse|time|miss|invalid|illegal|abort|panic|conflict|expected|mismatch|exceed|requires?|E[A-Z]{3,}|\d{3} |\*\*\*|rejected|locked|segment|bus |core dumped|broken|full|too many|in use|outdated|out of|lost|reset|closed|assert|duplicate|multiple|inconsistent|wrong|problem|issue|leak|<<<|tell me|need|permission|hang up|CERT|SSL|SQLSTATE|certificate|would|bad |only|detected|possibly|build|different|reformat|integrity/i

/** The name of a test, which may look like an error. Runners print the failure below the name. */
const NAME_OF_A_TEST =
  /^\s*(?:[✓✔√] |(?:not )?ok \d{1,7}\b|--- (?:PASS|FAIL|SKIP): |=== (?:RUN|NAME) |(?:PASS|FAIL) {1,2}\S|\((?:pass|fail)\) |● |[✗✕✖×] .{1,900}\d ?m?s\)?$)|^test .{1,900} \.\.\. (?:ok|FAILED|ignored)$|^\S{1,400}::.{1,500} (?:PASSED|FAILED|SKIPPED|ERROR) {1,200}\[/

/**
 * Returns the known errors of an output, causes before consequences: general ones last, otherwise in order of
 * appearance.
 */
export function matchSignatures(lines: readonly string[]): Match[] {
  const found = new Map<string, Match>()
  const seen = new Set<string>()
  let analyzed = 0
  for (const [line, text] of lines.entries()) {
    if (analyzed >= MAX_LINES) break
    if (text === '' || seen.has(text) || !MAYBE_ERROR.test(text) || NAME_OF_A_TEST.test(text)) continue
    seen.add(text)
    analyzed++
    const match = matchLine(text, line, lines)
    if (match === null) continue
    const { code } = match.signature
    const before = found.get(code)
    const several = before !== undefined && (isNamed(match) || isCause(match))
    // The first match had only the code; this one also has the subject.
    if (before !== undefined && !isCaught(before) && isCaught(match))
      found.set(code, { ...match, line: before.line })
    // Several missing modules are one failure each; a hundred compiler errors are one, and the first is the
    // one to fix.
    else if (several && match.caught.join() !== before.caught.join())
      found.set(`${code} ${match.caught.join()}`, match)
    else if (before === undefined) found.set(code, match)
  }
  return rooted([...found.values()]).slice(0, MAX_MATCHES)
}

/**
 * Returns the first signature that matches a line, with what its groups caught. Signatures that need another
 * line find it near `line` in `lines`.
 */
export function matchLine(text: string, line = 0, lines: readonly string[] = []): Match | null {
  for (const signature of signatures) {
    const caught = signature.pattern.exec(text)
    if (caught && isNear(signature, lines, line))
      return {
        signature,
        line,
        text,
        caught: caught.slice(1).map(part => (part ?? '').slice(0, CAUGHT_CHARACTERS)),
      }
  }
  return null
}

function isNear({ near }: Signature, lines: readonly string[], line: number): boolean {
  return near === null || lines.slice(Math.max(0, line - 5), line + 1).some(one => near.test(one))
}

const isCaught = ({ caught }: Match) => caught.some(part => part !== '')

const NAMED = [
  'node_module_not_found',
  'python_module_not_found',
  'command_not_found',
  'shared_library_missing',
  'missing_header',
  'dns',
]
const isNamed = ({ signature, caught }: Match) =>
  NAMED.includes(signature.code) && caught.some(part => part !== '')

const isRefusal = ({ signature }: Match) => signature.code === 'egress_denied'

/** The root cause of a chain of Java exceptions comes last. */
const isCause = ({ text }: Match) => /^\s*Caused by: /.test(text)

function rooted(matches: Match[]): Match[] {
  const refused = matches.some(isRefusal)
  // npm reports a refusal of the proxy as one of the registry.
  const exact = matches.filter(
    ({ signature }) => !signature.general && !(refused && signature.code === 'npm_auth'),
  )
  const general = matches.filter(({ signature }) => signature.general)
  const order = (a: Match, b: Match) => {
    // A refusal is the cause of whatever else the program reports.
    if (isRefusal(a) !== isRefusal(b)) return isRefusal(a) ? -1 : 1
    if (isCause(a) !== isCause(b)) return isCause(a) ? -1 : 1
    return isCause(a) ? b.line - a.line : a.line - b.line
  }
  // A general match adds nothing to a specific one.
  return exact.length > 0 ? exact.toSorted(order) : general.toSorted(order)
}

/** Fills the captured values into the text of a signature; an empty capture leaves no trace. */
export function worded(template: string, caught: readonly string[]): string {
  return template
    .replace(/\$(\d)/g, (_, n) => caught[Number(n) - 1] ?? '')
    .replace(/^``/, 'What it names')
    .replaceAll('``', 'what it names')
    .replace(/ {2,}/g, ' ')
    .replace(/ ([:,.;])/g, '$1')
    .replace(/[:,] ?(?=[.,;]|$)/g, '')
    .trim()
}
