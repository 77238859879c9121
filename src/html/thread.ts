import { parentPort, workerData } from 'node:worker_threads'
import { convert } from 'html-to-text'

const MAX_DEPTH = 500
const MAX_CHILDREN = 20_000
const skipped = ['img', 'svg', 'noscript', 'template', 'iframe'].map(selector => ({ selector, format: 'skip' }))

const { html, url } = workerData as { html: string; url: string }
const pathRewrite = (path: string) => URL.parse(path, url)?.href ?? path

const text = convert(html, {
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, maxChildNodes: MAX_CHILDREN, ellipsis: '…' },
  selectors: [
    ...skipped,
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true, pathRewrite } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(selector => ({ selector, options: { uppercase: false } })),
    { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
  ],
})
parentPort?.postMessage(text)
