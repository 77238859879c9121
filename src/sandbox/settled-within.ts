/** Returns true when `event` resolves within `timeout_ms`, false when it is late. Rejects when `event` does. */
export async function settledWithin(event: Promise<unknown>, timeout_ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>(resolve => {
    timer = setTimeout(() => resolve(false), timeout_ms)
  })
  try {
    return await Promise.race([event.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
