/** What a feed shows: indexes of its entries. `current`: the selected one. */
export type FeedView = { first: number; last: number; current: number | null }

/** The view of a feed, outside React: parts of the page follow it without rendering the others. */
export type FeedViewStore = {
  get(): FeedView
  set(view: FeedView): void
  subscribe(listener: () => void): () => void
}

export function createFeedView(): FeedViewStore {
  const listeners = new Set<() => void>()
  let view: FeedView = { first: 0, last: 0, current: null }
  return {
    get: () => view,
    set(next) {
      if (next.first === view.first && next.last === view.last && next.current === view.current) return
      view = next
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
