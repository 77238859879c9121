import { CLAIMED, SO_FAR_START, WATCH_INTERVAL_MS } from '../store/notify.ts'
import { Feed, type FeedSource } from './feed.ts'
import type { Hub } from './hub.ts'

export type WatchedRun = { organization_id: number; run_id: number }

/** The feeds that are read in this process: created for the first reader, dropped after the last. */
export class Feeds {
  readonly #feeds = new Map<string, { feed: Feed; stop: () => void }>()
  readonly #watched = new Map<string, WatchedRun>()
  readonly #hub: Hub
  readonly #on_error: (error: unknown) => void
  readonly #on_watch: (runs: WatchedRun[]) => void
  readonly #every_ms: number
  #timer: NodeJS.Timeout | undefined

  /**
   * @param on_watch receives every run that is followed here: at once, when a worker claims it, and every few
   *   seconds
   */
  constructor(
    hub: Hub,
    on_error: (error: unknown) => void,
    on_watch: (runs: WatchedRun[]) => void,
    every_ms = WATCH_INTERVAL_MS,
  ) {
    this.#hub = hub
    this.#on_error = on_error
    this.#on_watch = on_watch
    this.#every_ms = every_ms
  }

  /**
   * @param audience readers with the same value share a feed: the source words its frames the same way for
   *   them
   * @param frameOf turns an ephemeral event into a frame; null drops it
   */
  run(
    organization_id: number,
    run_id: number,
    audience: string,
    source: FeedSource,
    frameOf: (json: string) => string | null,
  ): Feed {
    const key = `run:${organization_id}:${run_id}:${audience}`
    if (!this.#feeds.has(key)) this.#watch(key, { organization_id, run_id })
    return this.#open(key, source, feed => [
      this.#hub.onRun(organization_id, run_id, () => feed.wake()),
      this.#hub.onWritten(organization_id, run_id, entries => feed.offer(entries)),
      this.#hub.onLive(organization_id, run_id, json => {
        if (json === CLAIMED) return this.#on_watch([{ organization_id, run_id }])
        const text = frameOf(json)
        if (text === null) return
        if (json.startsWith(SO_FAR_START)) feed.sendBacklog(text)
        else feed.broadcast(text)
      }),
    ])
  }

  organization(organization_id: number, audience: string, source: FeedSource): Feed {
    return this.#open(`organization:${organization_id}:${audience}`, source, feed => [
      this.#hub.onOrganization(organization_id, () => feed.wake()),
    ])
  }

  /** Drops feeds that no longer have a reader. */
  sweep() {
    for (const [key, { feed, stop }] of this.#feeds) {
      if (!feed.empty) continue
      stop()
      this.#feeds.delete(key)
      this.#watched.delete(key)
    }
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #watch(key: string, run: WatchedRun) {
    this.#watched.set(key, run)
    this.#on_watch([run])
    this.#timer ??= setInterval(() => this.#on_watch([...this.#watched.values()]), this.#every_ms).unref()
  }

  #open(key: string, source: FeedSource, subscribe: (feed: Feed) => (() => void)[]): Feed {
    const existing = this.#feeds.get(key)
    if (existing) return existing.feed
    const feed = new Feed(source, this.#on_error)
    const subscriptions = subscribe(feed)
    this.#feeds.set(key, { feed, stop: () => subscriptions.forEach(stop => void stop()) })
    return feed
  }
}
