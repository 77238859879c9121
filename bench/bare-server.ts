import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

// What `bench/log-page.ts` compares with: node:http alone, responding with the bytes that it was given on
// standard input.
const body = Buffer.from(await text(process.stdin))
const server = createServer((_request, response) => {
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
  })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`)
})
