import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import {
  ERROR_REFERENCE_PATH,
  errorReferenceHtml,
  errorReferenceMarkdown,
} from '../contract/error-reference.ts'

const style =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}section{margin-top:2rem}section:target{outline:2px solid;outline-offset:.75rem}dt{font-weight:600}dd{margin:0 0 .5rem}'
const style_hash = createHash('sha256').update(style).digest('base64')
const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Errors · Agent Run Service</title><style>${style}</style></head>
<body>
<p><a href="/docs">API reference</a></p>
<main>
${errorReferenceHtml()}</main>
</body>
</html>
`
const text = errorReferenceMarkdown()

/**
 * Serves what the `type` of a problem refers to: HTML to browsers, Markdown to every other client. It works
 * without the built page.
 */
export function addErrorReference(app: FastifyInstance) {
  app.route({
    method: ['GET', 'HEAD'],
    url: ERROR_REFERENCE_PATH,
    handler: async (request, reply) => {
      reply.header('vary', `${reply.getHeader('vary')}, Accept`)
      if (!request.headers.accept?.includes('text/html'))
        return reply.type('text/plain; charset=utf-8').send(text)
      return reply
        .header(
          'content-security-policy',
          `default-src 'none'; style-src 'sha256-${style_hash}'; base-uri 'none'; frame-ancestors 'none'`,
        )
        .type('text/html; charset=utf-8')
        .send(page)
    },
  })
}
