import { setImmediate as nextTick } from 'node:timers/promises'
import type { Failure } from '../../core/runs/outcome.ts'
import type { BackgroundRedactor } from '../../redaction/port.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { HeadReader } from './export-commit.ts'
import { type CommittedPublication, notPublished } from './publication.ts'

/** Characters that are searched at once; the overlap finds a value at the edge of two pieces. */
const PIECE = 1024 ** 2
const OVERLAP = 64 * 1024
const MAX_SHOWN = 5

/** `path`: null for the message of a commit. */
type SecretFound = { path: string | null; names: string[] }

/**
 * Lists the secrets whose values the commits contain. Each commit counts: a value that one adds and the next
 * removes is found.
 */
export async function secretsIn(
  { writer, base }: CommittedPublication,
  reader: HeadReader,
): Promise<SecretFound[]> {
  const found = new Map<string | null, Set<string>>()
  const { commits } = await reader.newObjectsSince(base.sha)
  const { added } = await reader.historySince(base.sha)
  for (const { path, text } of [{ path: null, text: commits }, ...added]) {
    const names = [
      ...(path === null ? [] : await writer.redactor.names(path)),
      ...(await namesIn(writer.redactor, text)),
    ]
    // A hundred thousand small files would block the event loop like a large one.
    await nextTick()
    if (names.length > 0) found.set(path, new Set([...(found.get(path) ?? []), ...names]))
  }
  await writer.reportAlarms('commit')
  return [...found].map(([path, names]) => ({ path, names: [...names] }))
}

/**
 * Commits with the value of a secret are not pushed: every reader of the branch could read it, and a push
 * cannot be undone.
 */
export async function deniedForSecrets(writer: RunWriter, found: SecretFound[]): Promise<Failure> {
  const lines: string[] = []
  for (const { path, names } of found) {
    const where = path === null ? 'the message of a commit' : await writer.redactor.text(path)
    lines.push(...names.map(name => `${where} holds ${name}`))
  }
  const more = lines.length > MAX_SHOWN ? ` and ${lines.length - MAX_SHOWN} more` : ''
  return notPublished(
    'policy_denied',
    'secret_in_commit',
    `Nothing was pushed, because the commits contain values of secrets: ${lines.slice(0, MAX_SHOWN).join('; ')}${more}. The work is kept. Resume the run and have the values removed from the commits, not only from the files.`,
  )
}

async function namesIn(redactor: BackgroundRedactor, text: string): Promise<string[]> {
  const found = new Set<string>()
  for (let from = 0; from < text.length; from += PIECE) {
    for (const name of await redactor.names(text.slice(from, from + PIECE + OVERLAP))) found.add(name)
  }
  return [...found]
}
