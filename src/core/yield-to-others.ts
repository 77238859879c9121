/** Returns when the event loop has run what was due: between the parts of long work, so that leases are renewed and requests are served. */
export const yieldToOthers = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
