import { actionTool } from '../../contract/runs/action-tools.ts'
import { composed } from '../../redaction/port.ts'
import { allOf, interrupted, type Tool } from '../tool.ts'

/** Characters of a page that one call returns, beside its address. */
const SHOWN_CHARS = 26_000
const FAILED_FROM = 400

export const web_fetch: Tool<'web_fetch'> = {
  name: actionTool.web_fetch,
  async run({ web, redactor, signal }, { url, offset = 0 }) {
    const page = await web(url, signal).catch(error => {
      if (!signal.aborted) throw error
      return null
    })
    if (page === null) return interrupted()
    if ('error' in page)
      return { status: 'error', output: { status: 'error', url, error: `${url}: ${page.error}` } }
    const text = await redactor.text(page.text)
    const shown = text.slice(offset, offset + SHOWN_CHARS).toWellFormed()
    const end = offset + shown.length
    const notes = [
      ...(offset > 0 || end < text.length ? [`Characters ${offset} to ${end} of ${text.length}.`] : []),
      ...(end < text.length ? [`Use offset ${end} to continue.`] : []),
      ...(page.cut ? ['The page is longer: only its beginning was read.'] : []),
    ]
    const failed = page.status >= FAILED_FROM
    const status = failed ? 'error' : 'ok'
    return {
      status,
      output: {
        status,
        url: page.url,
        ...(failed && { error: `${url}: It responded with ${page.status}.` }),
        ...(notes.length > 0 && { note: notes.join(' ') }),
      },
      redacted: composed({ text: shown }),
      truncated: shown.length < text.length || page.cut,
      whole: async () => allOf(composed(Buffer.from(text))),
    }
  },
}
