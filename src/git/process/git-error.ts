/**
 * Why an operation on a repository failed, as text that may be shown to the user.
 * - `unreachable` no connection, or the server failed · `not_found` no such repository or path · `auth` the
 *   server requires credentials that the service lacks
 * - `not_a_repository` the path exists and holds no repository · `too_large` over a size limit of this
 *   service · `timeout` the time limit passed
 * - `killed` a signal from outside ended git
 * - `corrupt` objects are corrupt or were rejected by git's own check · `rejected` the remote rejected a push
 *   · `failed` anything else
 */
type GitErrorCode =
  | 'unreachable'
  | 'not_found'
  | 'auth'
  | 'not_a_repository'
  | 'too_large'
  | 'timeout'
  | 'killed'
  | 'corrupt'
  | 'rejected'
  | 'failed'

export class GitError extends Error {
  override name = 'GitError'
  readonly code: GitErrorCode
  constructor(code: GitErrorCode, message: string, details: { cause?: unknown } = {}) {
    super(message, { cause: details.cause })
    this.code = code
  }
  /** Whether the same call may succeed later without any change. */
  get retryable(): boolean {
    return this.code === 'unreachable' || this.code === 'timeout'
  }
}

/** Order matters: the first matching pattern decides. Git's own messages, in LANG=C. */
const SIGNS: [GitErrorCode, RegExp][] = [
  [
    'auth',
    /Authentication failed|could not read (Username|Password)|terminal prompts disabled|returned error: 40[13]\b|Permission denied \(|Host key verification failed|invalid credentials/i,
  ],
  ['not_found', /returned error: 404\b|repository '[^']*' not found|Repository not found|does not exist/i],
  ['failed', /returned error: 30\d\b/],
  [
    'not_a_repository',
    /does not appear to be a git repository|not a git repository|not valid: is this a git repository|invalid gitfile format/i,
  ],
  [
    'unreachable',
    /Could not resolve host|Failed to connect|Couldn't connect|Connection (refused|reset|timed out|closed)|returned error: (429|5\d\d)\b|No route to host|Network is unreachable|Operation timed out|Operation too slow|Empty reply from server|SSL|TLS|RPC failed|transfer closed|hung up unexpectedly|early EOF|unexpected disconnect|Could not read from remote repository/i,
  ],
  [
    'corrupt',
    /fsck error|error in object|bad object|is corrupt|corrupt (loose|packed)|object file .{0,500} is empty|inflate|unable to (read|parse|unpack)|did not receive expected object|missing (blob|tree|commit)|index-pack|unpack-objects|invalid sha1 pointer|bad pack|pack has|unresolved delta|bad tree|broken links/i,
  ],
]

/** Creates an error from git's stderr. The text must have gone through `publicText` already. */
export function gitErrorFrom(stderr: string, what: string): GitError {
  const code = SIGNS.find(([, sign]) => sign.test(stderr))?.[0] ?? 'failed'
  if (/returned error: 30\d\b/.test(stderr))
    return new GitError(
      'failed',
      `${what}: the server responded with a redirect, and redirects are not followed; use the address it redirects to`,
    )
  const last_lines = lastLines(stderr)
  return new GitError(code, last_lines ? `${what}: ${last_lines}` : what)
}

const MAX_LINES = 6
const MAX_CHARS = 600

/**
 * Returns the last lines of an error output on one line. Every line is whole, and the last one is there
 * whatever its length: nothing is redacted yet, and half a secret is not recognized.
 */
function lastLines(stderr: string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    .map(line => line.trim())
    .filter(line => line !== '' && !/^(Please make sure|and the repository exists|hint:)/.test(line))
  let text = lines.at(-1) ?? ''
  for (const line of lines.slice(-MAX_LINES, -1).reverse()) {
    if (line.length + text.length > MAX_CHARS) break
    text = `${line}; ${text}`
  }
  return text
}

/**
 * Removes what must not be shown: passwords within addresses, the given secrets, and the given folders of
 * this machine.
 */
export function publicText(
  text: string,
  secrets: Iterable<string>,
  folders: Iterable<[path: string, shown: string]>,
): string {
  for (const secret of secrets) if (secret.length >= 6) text = text.replaceAll(secret, '***')
  for (const [path, shown] of folders) text = text.replaceAll(path, shown)
  return text.replace(/(\/\/)[^/@\s:]+:[^/@\s]*@/g, '$1***@')
}
