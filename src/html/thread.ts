import { parentPort, workerData } from 'node:worker_threads'
import { convert, type FormatCallback } from 'html-to-text'

const MAX_DEPTH = 500
const MAX_CHILDREN = 20_000
const skipped = ['img', 'svg', 'noscript', 'template', 'iframe'].map(selector => ({
  selector,
  format: 'skip',
}))

const { html, url, max_chars } = workerData as { html: string; url: string; max_chars: number }
const pathRewrite = (path: string) => URL.parse(path, url)?.href ?? path

/** Rows that have a cell already. */
const begun = new WeakSet<object>()
const cell: FormatCallback = (element, walk, builder) => {
  if (element.parent && begun.has(element.parent)) builder.addInline(' | ')
  if (element.parent) begun.add(element.parent)
  walk(element.children, builder)
}

const text = convert(html, {
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, maxChildNodes: MAX_CHILDREN, ellipsis: '…' },
  formatters: { cell },
  selectors: [
    ...skipped,
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true, pathRewrite } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(selector => ({ selector, options: { uppercase: false } })),
    // Not `dataTable`: it pads every row to the widest cell, so that a small page becomes a text of any size.
    { selector: 'table', format: 'block' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...['td', 'th'].map(selector => ({ selector, format: 'cell' })),
  ],
})
parentPort?.postMessage({ text: text.slice(0, max_chars), cut: text.length > max_chars })
