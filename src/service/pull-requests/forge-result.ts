import { ServiceError } from '../../core/service-error.ts'
import { shortError } from '../../core/text/truncate.ts'
import { ForgeError } from '../../forge/port.ts'

/** Returns the result of a request to a forge, or its error. Throws what is not a ForgeError. */
export async function resultOf<T>(
  request: Promise<T>,
): Promise<{ ok: true; value: T } | { ok: false; error: ForgeError }> {
  try {
    return { ok: true, value: await request }
  } catch (error) {
    if (error instanceof ForgeError) return { ok: false, error }
    throw error
  }
}

/**
 * Returns the result of a request to a forge. Throws 503 when it may succeed later and 409 when it needs a
 * change, with the forge's message.
 */
export async function requireResult<T>(request: Promise<T>): Promise<T> {
  const result = await resultOf(request)
  if (result.ok) return result.value
  const { retryable, retry_after_seconds } = result.error
  const message = shortError(result.error.message)
  throw retryable
    ? new ServiceError('unavailable', message, {
        headers: { 'retry-after': String(Math.ceil(retry_after_seconds ?? 5)) },
      })
    : new ServiceError('conflict', message)
}
