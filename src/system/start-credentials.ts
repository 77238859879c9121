import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const LINK_NAME = 'sign-in-link'
const TOKEN_NAME = 'initial-token'

/**
 * Absolute paths of files with one line each; `token`: null when no start of this data folder created a token
 * for a file, or it was removed.
 */
export type CredentialFiles = { link: string; token: string | null }

/**
 * Writes the credentials of a start into files in the data folder `root` that only their owner, the user of
 * the service, can read: standard output that is not a terminal is a log, which others read and which is
 * kept. The link replaces the one of the last start; the token stays until the operator removes its file, so
 * a restart does not lose it. Throws what the file system throws.
 */
export function writeStartCredentials(
  root: string,
  credentials: { link: string; token: string | null },
): CredentialFiles {
  const token = join(root, TOKEN_NAME)
  if (credentials.token !== null) writeLine(token, credentials.token)
  const link = join(root, LINK_NAME)
  writeLine(link, credentials.link)
  return { link, token: existsSync(token) ? token : null }
}

/** By rename, so that the file has its mode and its whole content from the start, whatever had its name. */
function writeLine(path: string, line: string): void {
  const draft = `${path}.draft`
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(file, `${line}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}
