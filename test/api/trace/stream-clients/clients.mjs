// Reads an event stream with a published client (first argument) and prints each message that it delivers as
// a line of JSON.
import { fetchEventSource } from '@microsoft/fetch-event-source'
import { EventSource } from 'eventsource'

const [client, url] = process.argv.slice(2)

function report({ data, event, type, id, lastEventId }) {
  process.stdout.write(`${JSON.stringify({ data, event: event ?? type, id: id ?? lastEventId })}\n`, () => {
    if (data === 'end') process.exit(0)
  })
}

if (client === 'eventsource') new EventSource(url).addEventListener('log', report)
else {
  // It expects a browser.
  globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} }
  globalThis.window = globalThis
  await fetchEventSource(url, {
    onmessage: report,
    onerror(error) {
      throw error
    },
  })
}
