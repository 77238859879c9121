import type { LogExplanation } from '../contract/runs/log-analysis.ts'
import { entryUrl } from '../core/runs/trace-url.ts'

type Place = { agent_run_id: number; seq: number }

const MENTIONED = /(?<![\w&[])#(\d{1,9})\b/g
const MOST_MENTIONED = 200

/** Returns the entries that an explanation names. Those in its text belong to `run_id`, if it is about one run. */
export function namedPlaces({ explanation, references }: LogExplanation, run_id: number | null): Place[] {
  const said = run_id === null ? [] : [...explanation.matchAll(MENTIONED)].slice(0, MOST_MENTIONED)
  return [...references, ...said.map(([, seq]) => ({ agent_run_id: run_id ?? 0, seq: Number(seq) }))]
}

/**
 * Returns the explanation with links to the entries that it names. A reference to a missing entry is marked, because a model may have
 * invented it.
 */
export function linked(said: LogExplanation, run_id: number | null, known: readonly Place[], base_url: string): string {
  const isKnown = (place: Place) => known.some(one => one.agent_run_id === place.agent_run_id && one.seq === place.seq)
  const text =
    run_id === null
      ? said.explanation
      : said.explanation.replace(MENTIONED, (mention, seq) =>
          isKnown({ agent_run_id: run_id, seq: Number(seq) })
            ? `[${mention}](${entryUrl(base_url, run_id, Number(seq))})`
            : `${mention} (there is no such entry)`,
        )
  const name = ({ agent_run_id, seq }: Place) => (run_id === null ? `run ${agent_run_id}, #${seq}` : `#${seq}`)
  const once = [...new Map(said.references.map(place => [`${place.agent_run_id} ${place.seq}`, place])).values()]
  const good = once.filter(isKnown).map(place => `[${name(place)}](${entryUrl(base_url, place.agent_run_id, place.seq)})`)
  const bad = once.filter(place => !isKnown(place)).map(name)
  return [
    text,
    good.length > 0 ? `Entries: ${good.join(', ')}` : null,
    bad.length > 0 ? `Left out, because there are no such entries: ${bad.join(', ')}` : null,
  ]
    .filter(part => part !== null)
    .join('\n\n')
}
