export type Sink = (chunk: Uint8Array) => Promise<void> | void

/** Delivers one chunk at a time; after an error, which `done` throws, nothing more is delivered. */
export function deliverInOrder(sink: Sink, on_error: () => void) {
  let last: Promise<void> = Promise.resolve()
  let failure: { error: unknown } | undefined
  const add = (chunk: Uint8Array) => {
    const copy = new Uint8Array(chunk)
    last = last.then(async () => {
      if (failure) return
      try {
        await sink(copy)
      } catch (error) {
        failure = { error }
        on_error()
      }
    })
    return last
  }
  const done = async () => {
    await last
    if (failure) throw failure.error
  }
  return { add, done }
}
