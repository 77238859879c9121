import { json_channels } from '../../core/json/channels.ts'
import { EventMeter } from '../../core/json/event-meter.ts'
import { JsonMeter } from '../../core/json/json-meter.ts'
import { ModelError } from '../port.ts'

type Fetch = typeof globalThis.fetch
type Bytes = Uint8Array<ArrayBuffer>

/**
 * Returns a `fetch` whose responses fail with ModelError `malformed` when an event in them has more than the
 * SDK can check: its schemas describe each wrong value, and a million calls in one event of 3 MB took 7 s. Of
 * an error the text is cut instead, so that it counts as text.
 */
export const withBoundedEvents =
  (fetch: Fetch): Fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null) return response
    const { status, statusText, headers } = response
    const bounded = response.ok ? boundedEvents() : boundedError()
    return new Response(response.body.pipeThrough(bounded), { status, statusText, headers })
  }

function boundedEvents(): TransformStream<Bytes, Bytes> {
  const meter = new EventMeter(json_channels.model_event)
  return new TransformStream({
    transform(chunk, controller) {
      const excess = meter.add(chunk)
      if (excess === null) controller.enqueue(chunk)
      else controller.error(new ModelError('malformed', `An event of the model ${excess.message}.`))
    },
  })
}

function boundedError(): TransformStream<Bytes, Bytes> {
  const meter = new JsonMeter(json_channels.model_error)
  return new TransformStream({
    transform(chunk, controller) {
      if (meter.add(chunk) === null) controller.enqueue(chunk)
      else controller.terminate()
    },
  })
}
