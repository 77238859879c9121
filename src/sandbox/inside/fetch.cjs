// Loaded before every program of Node in a sandbox whose egress is off: its own fetch then goes by the proxy, so that what is refused stands
// in the trace, and what is allowed meanwhile is reached. From the first fetch on: to go by it from the start doubles the time of each start.
const own = Object.getOwnPropertyDescriptor(globalThis, 'fetch')
if (typeof own?.value === 'function' && own.configurable)
  Object.defineProperty(globalThis, 'fetch', {
    ...own,
    value: function fetch(...request) {
      // Unless the program has put its own in our place.
      if (globalThis.fetch === fetch) Object.defineProperty(globalThis, 'fetch', own)
      // Versions before 24.14 do not have it.
      require('node:http').setGlobalProxyFromEnv?.()
      return own.value.apply(this, request)
    },
  })
