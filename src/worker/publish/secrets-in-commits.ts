import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BackgroundRedactor } from '../../core/redaction/background-redactor.ts'
import { addedText } from '../../git/read/added-text.ts'
import { type Base, objectsOfRun } from '../base/base.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import type { NotPublished } from './publish.ts'

/** Characters that are looked at in one go; a value at the edge stands in the next piece too. */
const PIECE = 1024 ** 2
const OVERLAP = 64 * 1024
const MOST_PLACES = 5

/** Where commits hold the value of a secret, each commit on its own: what one adds and the next takes away counts. `path` null: in its words. */
export async function secretsIn(
  deps: WorkerDeps,
  writer: RunWriter,
  base: Base,
  head: string,
): Promise<{ path: string | null; names: string[] }[]> {
  const found = new Map<string | null, Set<string>>()
  for (const { path, text } of await addedText(deps.git, objectsOfRun({ id: writer.run_id }, base), base.sha, head)) {
    const names = [...(path === null ? [] : await writer.redactor.names(path)), ...(await namesIn(writer.redactor, text))]
    // A hundred thousand small files would hold everybody up like a large one.
    await nextTurn()
    if (names.length > 0) found.set(path, new Set([...(found.get(path) ?? []), ...names]))
  }
  await writer.reportAlarms('commit')
  return [...found].map(([path, names]) => ({ path, names: [...names] }))
}

/** Commits that hold the value of a secret are not pushed: whoever can read the branch could read it, and a push cannot be taken back. */
export async function deniedForSecrets(writer: RunWriter, places: { path: string | null; names: string[] }[]): Promise<NotPublished> {
  const said: string[] = []
  for (const { path, names } of places) {
    const where = path === null ? 'the message of a commit' : await writer.redactor.text(path)
    said.push(...names.map(name => `${where} holds ${name}`))
  }
  const more = said.length > MOST_PLACES ? ` and ${said.length - MOST_PLACES} places more` : ''
  return {
    kind: 'failed',
    reason: 'policy_denied',
    code: 'secret_in_commit',
    message: `Nothing was pushed, because the commits hold values of secrets: ${said.slice(0, MOST_PLACES).join('; ')}${more}. The work is kept. Resume the run and have it taken out of the commits, not only of the files.`,
  }
}

async function namesIn(redactor: BackgroundRedactor, text: string): Promise<string[]> {
  const found = new Set<string>()
  for (let from = 0; from < text.length; from += PIECE) {
    for (const name of await redactor.names(text.slice(from, from + PIECE + OVERLAP))) found.add(name)
  }
  return [...found]
}
