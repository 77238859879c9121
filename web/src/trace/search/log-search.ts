import type { LogHit, LogSearch as SearchPart } from '../../../../src/contract/runs/log-search.ts'

/** The entries of a run that contain a text, found part by part, and growing with the run. */
export type LogSearch = {
  /** The `seq` of all matching entries found so far, ascending. */
  readonly seqs: readonly number[]
  /** Whether all entries that are known to exist were searched. */
  readonly complete: boolean
  /** The failure of the last request, null when there is none. */
  readonly problem: unknown
  /** The text around the match at this position of `seqs`; undefined while it is not loaded. */
  hit(index: number): LogHit | undefined
  /** Loads the missing hits of a range of positions. */
  want(first: number, last: number): void
  /** Searches the entries that were added since. `total`: number of entries of the run. */
  extend(total: number): void
  retry(): void
  close(): void
}

type Options = {
  /** Searches the entries after `after_seq`; returns at most `limit` hits. */
  load: (after_seq: number, limit: number, signal: AbortSignal) => Promise<SearchPart>
  on_change: () => void
  page_size: number
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the matches, in short functions
export function createLogSearch({ load, on_change, page_size }: Options): LogSearch {
  const closed = new AbortController()
  const seqs: number[] = []
  const hits = new Map<number, LogHit>()
  const loading = new Set<number>()
  let searched_to = 0
  let total = 0
  let complete = false
  let problem: unknown = null
  let active = false

  const keep = (part: SearchPart) => {
    for (const hit of part.hits) hits.set(hit.seq, hit)
  }
  const failed = (error: unknown) => {
    if (closed.signal.aborted) return
    problem = error
    on_change()
  }
  const searchOn = async () => {
    if (active) return
    active = true
    problem = null
    try {
      for (complete = false; !complete; on_change()) {
        // Only the hits that are shown first are loaded with their positions.
        const part = await load(searched_to, Math.max(0, page_size - seqs.length), closed.signal)
        for (const seq of part.seqs) seqs.push(seq)
        keep(part)
        searched_to = part.searched_to
        complete = part.complete && searched_to >= total
      }
    } catch (error) {
      failed(error)
    } finally {
      active = false
    }
  }
  const missingIn = (number: number) =>
    seqs.slice(number * page_size, (number + 1) * page_size).filter(seq => !hits.has(seq))
  const loadPage = async (number: number) => {
    loading.add(number)
    try {
      // A response has the matches of a part of the trace: each begins at the first match that is missing.
      for (let missing = missingIn(number); missing.length > 0; missing = missingIn(number)) {
        const [first = 0] = missing
        keep(await load(first - 1, missing.length, closed.signal))
        on_change()
        if (!hits.has(first)) break
      }
    } catch (error) {
      failed(error)
    } finally {
      loading.delete(number)
    }
  }
  void searchOn()

  return {
    seqs,
    get complete() {
      return complete
    },
    get problem() {
      return problem
    },
    hit: index => hits.get(seqs[index] ?? 0),
    want(first, last) {
      if (problem !== null) return
      const end = Math.min(last, seqs.length - 1)
      for (let number = Math.floor(Math.max(0, first) / page_size); number * page_size <= end; number++) {
        // The search itself loads the first page.
        if (!loading.has(number) && !(active && number === 0) && missingIn(number).length > 0)
          void loadPage(number)
      }
    },
    extend(count) {
      total = Math.max(total, count)
      if (total > searched_to) void searchOn()
    },
    retry() {
      problem = null
      if (!complete) void searchOn()
      on_change()
    },
    close: () => closed.abort(),
  }
}

/** The number of ascending `seqs` that are at most `seq`. */
export function rankOf(seqs: readonly number[], seq: number): number {
  let [low, high] = [0, seqs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((seqs[middle] ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low
}

/** The next or previous match as seen from entry `seq`, around the end; undefined when there is none. */
export function matchFrom(
  seqs: readonly number[],
  seq: number,
  direction: 'next' | 'previous',
): number | undefined {
  const rank = rankOf(seqs, seq)
  if (direction === 'next') return seqs[rank] ?? seqs[0]
  return seqs[rank - (seqs[rank - 1] === seq ? 2 : 1)] ?? seqs.at(-1)
}
