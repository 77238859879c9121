import { AsyncLocalStorage } from 'node:async_hooks'

/** What the event loop works on: the run with this id, or something that is no run, such as a request. */
export type InHand = number | 'no run'

const in_hand = new AsyncLocalStorage<InHand>()
const KEY = 'agentrun.in_hand'
Reflect.set(globalThis, Symbol.for(KEY), () => in_hand.getStore() ?? null)

/**
 * JavaScript by which another thread reads what the event loop works on at this moment; null: that is not
 * known.
 */
export const IN_HAND_EXPRESSION = `globalThis[Symbol.for('${KEY}')]?.() ?? null`

/** Starts `work`: everything that follows from it counts as work on `what`. */
export const handling = <T>(what: InHand, work: () => T): T => in_hand.run(what, work)
