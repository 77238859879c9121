import type { Signature } from './signatures/signature.ts'
import { signatures } from './signatures/table.ts'

/** `line`: its place in the lines that were looked at, for their order alone. */
export type Match = { signature: Signature; line: number; text: string; caught: string[] }

/** Lines of one output that are held against the table; a log of errors alone says what it has to say in those. */
const MOST_LINES = 3_000
const MOST_MATCHES = 8
const CAUGHT_CHARACTERS = 200

/** What every line has that says that something is wrong, in one pass before the table is gone through. */
const WORTH_A_LOOK =
  /err|fail|fatal|exception|warn|not |n't|no |un[a-z]|kill|den(?:y|ied)|refuse|time|miss|invalid|illegal|abort|panic|conflict|expected|mismatch|exceed|requires?|E[A-Z]{3,}|\d{3} |\*\*\*|rejected|locked|segment|bus |core dumped|broken|full|too many|in use|outdated|out of|lost|reset|closed|assert|duplicate|multiple|inconsistent|wrong|problem|issue|leak|<<<|tell me|need|permission|hang up|CERT|SSL|SQLSTATE|certificate|would|bad |only|detected|possibly|build|different|reformat|integrity/i

/** The name of a test, which may well be that of an error. What a runner says of one that failed stands below its name. */
const NAME_OF_A_TEST =
  /^\s*(?:[✓✔√] |(?:not )?ok \d{1,7}\b|--- (?:PASS|FAIL|SKIP): |=== (?:RUN|NAME) |(?:PASS|FAIL) {1,2}\S|\((?:pass|fail)\) |● |[✗✕✖×] .{1,900}\d ?m?s\)?$)|^test .{1,900} \.\.\. (?:ok|FAILED|ignored)$|^\S{1,400}::.{1,500} (?:PASSED|FAILED|SKIPPED|ERROR) {1,200}\[/

/** What of an output is known, the root before what follows from it: the general last, and of the others the one that was said first. */
export function matchSignatures(lines: readonly string[]): Match[] {
  const found = new Map<string, Match>()
  const seen = new Set<string>()
  let looked = 0
  for (const [line, text] of lines.entries()) {
    if (looked >= MOST_LINES) break
    if (text === '' || seen.has(text) || !WORTH_A_LOOK.test(text) || NAME_OF_A_TEST.test(text)) continue
    seen.add(text)
    looked++
    const match = matchLine(text, line, lines)
    if (match === null) continue
    const { code } = match.signature
    const before = found.get(code)
    const several = before !== undefined && (isNamed(match) || isCause(match))
    // The first said it by its code alone, and this one says of what.
    if (before !== undefined && !isCaught(before) && isCaught(match)) found.set(code, { ...match, line: before.line })
    // Several missing modules are one failure each; a hundred errors of a compiler are one, and the first is the one to mend.
    else if (several && match.caught.join() !== before.caught.join()) found.set(`${code} ${match.caught.join()}`, match)
    else if (before === undefined) found.set(code, match)
  }
  return rooted([...found.values()]).slice(0, MOST_MATCHES)
}

export function matchLine(text: string, line = 0, lines: readonly string[] = []): Match | null {
  for (const signature of signatures) {
    const caught = signature.pattern.exec(text)
    if (caught && isNear(signature, lines, line))
      return { signature, line, text, caught: caught.slice(1).map(part => (part ?? '').slice(0, CAUGHT_CHARACTERS)) }
  }
  return null
}

function isNear({ near }: Signature, lines: readonly string[], line: number): boolean {
  return near === undefined || lines.slice(Math.max(0, line - 5), line + 1).some(one => near.test(one))
}

const isCaught = ({ caught }: Match) => caught.some(part => part !== '')

const NAMED = ['node_module_not_found', 'python_module_not_found', 'command_not_found', 'shared_library_missing', 'missing_header', 'dns']
const isNamed = ({ signature, caught }: Match) => NAMED.includes(signature.code) && caught.some(part => part !== '')

const isRefusal = ({ signature }: Match) => signature.code === 'egress_denied'

/** A chain of exceptions of Java ends with its root. */
const isCause = ({ text }: Match) => /^\s*Caused by: /.test(text)

function rooted(matches: Match[]): Match[] {
  const refused = matches.some(isRefusal)
  // npm takes the refusal of the proxy for one of the registry.
  const exact = matches.filter(({ signature }) => !signature.general && !(refused && signature.code === 'npm_auth'))
  const general = matches.filter(({ signature }) => signature.general)
  const order = (a: Match, b: Match) => {
    // Whatever a program makes of a refusal, that is why.
    if (isRefusal(a) !== isRefusal(b)) return isRefusal(a) ? -1 : 1
    if (isCause(a) !== isCause(b)) return isCause(a) ? -1 : 1
    return isCause(a) ? b.line - a.line : a.line - b.line
  }
  // What is general says nothing more where something exact is known.
  return exact.length > 0 ? exact.toSorted(order) : general.toSorted(order)
}

/** The words of a signature with what was caught in their places; what caught nothing leaves no trace. */
export function worded(words: string, caught: readonly string[]): string {
  return words
    .replace(/\$(\d)/g, (_, n) => caught[Number(n) - 1] ?? '')
    .replace(/^``/, 'What it names')
    .replaceAll('``', 'what it names')
    .replace(/ {2,}/g, ' ')
    .replace(/ +([:,.;])/g, '$1')
    .replace(/[:,] ?(?=[.,;]|$)/g, '')
    .trim()
}
