import { AsyncLocalStorage } from 'node:async_hooks'

/** What the event loop works on: the run with this id, or something that is not a run, such as a request. */
export type CurrentWork = number | 'no run'

const current_work = new AsyncLocalStorage<CurrentWork>()
const KEY = 'agentrun.current_work'
Reflect.set(globalThis, Symbol.for(KEY), () => current_work.getStore() ?? null)

/**
 * JavaScript by which another thread reads what the event loop works on at this moment; null: that is not
 * known.
 */
export const CURRENT_WORK_EXPRESSION = `globalThis[Symbol.for('${KEY}')]?.() ?? null`

/** Starts `work`: everything that follows from it counts as work on `what`. */
export const runAs = <T>(what: CurrentWork, work: () => T): T => current_work.run(what, work)
