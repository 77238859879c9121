// Listens on ports of the sandbox's own loopback, each given as PORT=SOCKET, and joins what connects to them
// with these sockets. It can be killed inside: process 1 starts it again. Says "open" when it listens on all
// of them, and ends when it cannot.
const net = require('node:net')

/** The kernel tells the next one that nobody listens. */
const max_connections = 128

function join(inner, socket) {
  const outer = net.connect({ path: socket, allowHalfOpen: true })
  inner.on('error', () => outer.destroy()).on('close', () => outer.destroySoon())
  outer.on('error', () => inner.destroy()).on('close', () => inner.destroySoon())
  // A response comes in pieces, and each small one would wait until the one before is acknowledged.
  inner.setNoDelay(true)
  inner.pipe(outer).pipe(inner)
}

const opening = process.argv.slice(2).map(pair => {
  const [port, socket] = pair.split(/=(.*)/s)
  const server = net.createServer({ allowHalfOpen: true }, inner => join(inner, socket))
  server.maxConnections = max_connections
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(Number(port), '127.0.0.1', resolve)
  })
})
Promise.all(opening).then(
  () => process.stdout.write('open\n'),
  () => process.exit(1),
)
