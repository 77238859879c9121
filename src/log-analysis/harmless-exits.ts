import { commandParts, workingParts } from './commands.ts'

/** A redirection into a file. */
const WRITES = /(?:^|[^\d&>-])>{1,2}(?!\s?(?:\/dev\/null|&))/
const EXISTENCE_CHECK =
  /^(?:cat|grep|egrep|fgrep|rg|ag|sed|awk|head|tail|less|more|ls|find|which|type|command|stat|file|wc|test|\[|diff|cmp|pgrep|ps|env|printenv|pwd|echo|printf|git\s+(?:log|show|diff|grep|status|blame|ls-files|cat-file|rev-parse))(?=\s|$)/

/** Returns whether a command only checks for existence: its failure means absence, not a problem. */
export function onlyChecksExistence(command: string): boolean {
  if (WRITES.test(command)) return false
  const working = workingParts(command)
  return (working.length > 0 ? working : commandParts(command)).every(
    part => EXISTENCE_CHECK.test(part) || /^(?:echo|printf|true|:)\b/.test(part),
  )
}

/**
 * Returns whether the exit code of a line is not that of its work: `npm test | tail` succeeds even when tests
 * fail.
 */
export const hidesFailure = (command: string): boolean =>
  /\|(?!\|)|\|\||;\s*(?:echo|true|exit 0)|&\s*$/.test(command)
