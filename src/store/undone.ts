/** serialization_failure and deadlock_detected: the server took the transaction back for the sake of another one. */
const UNDONE = new Set(['40001', '40P01'])
const TRIES = 4
const LONGEST_WAIT_MS = 50

/** Does `work` again, three times at most, when another transaction undid it: nothing of it is left then. */
export async function unlessUndone<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === TRIES || !UNDONE.has((error as { code?: string }).code ?? '')) throw error
      const wait = Math.random() * LONGEST_WAIT_MS * attempt
      await new Promise(resolve => setTimeout(resolve, wait))
    }
  }
}

/** Whether a connection is of no use after this error of a statement: everything but a plain ERROR that the server itself has told. */
export function breaksConnection(error: unknown): boolean {
  const { severity } = error as { severity?: string }
  return severity === undefined || severity === 'FATAL' || severity === 'PANIC'
}
