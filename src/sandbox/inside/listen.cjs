// Listens on ports of the sandbox's own loopback and gives the listening sockets to the host, over the channel in NODE_CHANNEL_FD.
// It exits before anything of the agent runs, so that killing processes inside cannot stop the host from listening.
const net = require('node:net')

process.on('disconnect', () => process.exit(0))
for (const port of process.argv.slice(2)) {
  const server = net.createServer()
  server.listen(Number(port), '127.0.0.1', () =>
    process.send(port, server, error => {
      // The channel stays open in bubblewrap when we end, so the host would hear nothing.
      if (error) process.send('failed')
    }),
  )
}
