import type { LogExplanation } from '../contract/runs/log-analysis.ts'
import { entryUrl } from '../core/runs/trace-url.ts'

type NamedEntry = { agent_run_id: number; seq: number }

const MENTIONED = /(?<![\w&[])#(\d{1,9})\b/g
const MAX_MENTIONED = 200

/**
 * Returns the entries that an explanation names. Those in its text belong to `run_id`, if it is about one
 * run.
 */
export function namedEntries(
  { explanation, references }: LogExplanation,
  run_id: number | null,
): NamedEntry[] {
  const explained = run_id === null ? [] : [...explanation.matchAll(MENTIONED)].slice(0, MAX_MENTIONED)
  return [...references, ...explained.map(([, seq]) => ({ agent_run_id: run_id ?? 0, seq: Number(seq) }))]
}

/**
 * Returns the explanation with links to the entries that it names. A reference to a missing entry is marked,
 * because a model may have invented it.
 */
export function linked(
  explained: LogExplanation,
  run_id: number | null,
  known: readonly NamedEntry[],
  base_url: string,
): string {
  const isKnown = (entry: NamedEntry) =>
    known.some(one => one.agent_run_id === entry.agent_run_id && one.seq === entry.seq)
  const text =
    run_id === null
      ? explained.explanation
      : explained.explanation.replace(MENTIONED, (mention, seq) =>
          isKnown({ agent_run_id: run_id, seq: Number(seq) })
            ? `[${mention}](${entryUrl(base_url, run_id, Number(seq))})`
            : `${mention} (there is no such entry)`,
        )
  const name = ({ agent_run_id, seq }: NamedEntry) =>
    run_id === null ? `run ${agent_run_id}, #${seq}` : `#${seq}`
  const once = [
    ...new Map(explained.references.map(entry => [`${entry.agent_run_id} ${entry.seq}`, entry])).values(),
  ]
  const good = once
    .filter(isKnown)
    .map(entry => `[${name(entry)}](${entryUrl(base_url, entry.agent_run_id, entry.seq)})`)
  const bad = once.filter(entry => !isKnown(entry)).map(name)
  return [
    text,
    good.length > 0 ? `Entries: ${good.join(', ')}` : null,
    bad.length > 0 ? `Left out, because there are no such entries: ${bad.join(', ')}` : null,
  ]
    .filter(part => part !== null)
    .join('\n\n')
}
