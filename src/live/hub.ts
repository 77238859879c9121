import type { Hints } from './listener.ts'

type Wake = () => void
type LiveEvent = (json: string) => void
/** An entry as it is stored. */
export type WrittenEntry = { seq: number; body: string }
type WriteListener = (entries: WrittenEntry[]) => void

/** The subscriptions of this process. Callbacks must be quick and must not throw. */
export class Hub implements Hints {
  readonly #work = new Set<Wake>()
  readonly #webhook = new Set<Wake>()
  readonly #runs = new Map<string, Set<Wake>>()
  readonly #organizations = new Map<number, Set<Wake>>()
  readonly #live = new Map<string, Set<LiveEvent>>()
  readonly #written = new Map<string, Set<WriteListener>>()
  readonly #calls = new Map<string, Set<Wake>>()

  onWork = (wake: Wake) => add(this.#work, wake)
  onWebhook = (wake: Wake) => add(this.#webhook, wake)
  onRun = (organization_id: number, run_id: number, wake: Wake) =>
    addTo(this.#runs, `${organization_id}:${run_id}`, wake)
  onOrganization = (organization_id: number, wake: Wake) => addTo(this.#organizations, organization_id, wake)
  onLive = (organization_id: number, run_id: number, receive: LiveEvent) =>
    addTo(this.#live, `${organization_id}:${run_id}`, receive)
  /** `receive` gets what this process appends to the run, before it is notified of it. */
  onWritten = (organization_id: number, run_id: number, receive: WriteListener) =>
    addTo(this.#written, `${organization_id}:${run_id}`, receive)
  onCancelled = (call: string, cancel: Wake) => addTo(this.#calls, call, cancel)

  work() {
    for (const wake of this.#work) wake()
  }
  webhook() {
    for (const wake of this.#webhook) wake()
  }
  cancelled(call: string) {
    for (const cancel of this.#calls.get(call) ?? []) cancel()
  }
  run(organization_id: number, run_id: number) {
    for (const wake of this.#runs.get(`${organization_id}:${run_id}`) ?? []) wake()
    for (const wake of this.#organizations.get(organization_id) ?? []) wake()
  }
  live(organization_id: number, run_id: number, json: string) {
    for (const receive of this.#live.get(`${organization_id}:${run_id}`) ?? []) receive(json)
  }
  /** Entries that this process has committed. */
  written(organization_id: number, run_id: number, entries: WrittenEntry[]) {
    for (const receive of this.#written.get(`${organization_id}:${run_id}`) ?? []) receive(entries)
  }
  everything() {
    this.work()
    this.webhook()
    for (const wakes of [...this.#runs.values(), ...this.#organizations.values()])
      for (const wake of wakes) wake()
  }
}

function add<T>(set: Set<T>, item: T): () => void {
  set.add(item)
  return () => set.delete(item)
}

function addTo<K, T>(map: Map<K, Set<T>>, key: K, item: T): () => void {
  const set = map.get(key) ?? new Set<T>()
  map.set(key, set.add(item))
  return () => {
    set.delete(item)
    if (set.size === 0 && map.get(key) === set) map.delete(key)
  }
}
