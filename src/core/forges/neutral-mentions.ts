/** A word joiner between `@` and a name: invisible, and forges do not detect a mention after it. */
const WORD_JOINER = '\u2060'

/**
 * Returns a Markdown text without mentions, for text that agents and repositories write to a forge: `@ada`
 * and `@acme/team` appear the same and notify nobody. Code (where forges detect no mention and from which
 * people copy), e-mail addresses and URLs are unchanged. Ambiguous parts count as text: after an indented
 * fence, which may belong to a list and end with it, later fences are ignored. References such as `#12` and
 * words such as "fixes #12" stay: they notify nobody.
 */
export function neutralMentions(markdown: string): string {
  let fence: string | null = null
  let fences_count = true
  let html: RegExp | null = null
  return markdown
    .split('\n')
    .map(line => {
      if (fence !== null) {
        if (isEndOf(fence, line)) fence = null
        return line
      }
      const starts: boolean = html === null
      html ??= htmlEnd(line)
      if (html !== null) {
        // A comment may end in the line in which it begins; any other block ends in a later line.
        if (html.test(line) && (!starts || html === COMMENT_END)) html = null
        return split(line)
      }
      fences_count &&= !/^ {1,3}(?:`{3}|~{3})/.test(line)
      fence = fences_count ? fenceOf(line) : null
      return fence === null ? outsideSpans(line) : line
    })
    .join('\n')
}

/** Returns the fence of a code block that begins in this line. */
function fenceOf(line: string): string | null {
  const [fence = null] = /^(?:`{3,}|~{3,})/.exec(line) ?? []
  return fence?.startsWith('`') && line.includes('`', fence.length) ? null : fence
}

function isEndOf(fence: string, line: string): boolean {
  const [, mark = ''] = /^ {0,3}(`+|~+)[ \t\r]*$/.exec(line) ?? []
  return mark.startsWith(fence)
}

const COMMENT_END = /-->/
const BLANK = /^\s*$/
const NEVER = /$^/

/**
 * Returns the end of an HTML block that begins in this line, or null. Such a block contains no code block.
 */
function htmlEnd(line: string): RegExp | null {
  if (/^ {0,3}<!--/.test(line)) return COMMENT_END
  if (/^ {0,3}<([?!]|(pre|script|style|textarea)\b)/i.test(line)) return NEVER
  return /^ {0,3}<\/?[a-z]/i.test(line) ? BLANK : null
}

/**
 * Removes code spans. A span ends in the same line, at as many backticks as it began with; a table cell does
 * not split it, and no tag comes before it.
 */
function outsideSpans(line: string): string {
  const token = /\\.|`+|<(?=[a-z/!?])/gi
  let [done, from] = ['', 0]
  for (let found = token.exec(line); found !== null && found[0] !== '<'; found = token.exec(line)) {
    if (!found[0].startsWith('`')) continue
    const start = token.lastIndex
    const end = endOfSpan(line, start, found[0].length)
    if (end === null || line.slice(start, end).includes('|')) continue
    done += split(line.slice(from, found.index)) + line.slice(found.index, end)
    from = end
    token.lastIndex = end
  }
  return done + split(line.slice(from))
}

function endOfSpan(line: string, start: number, length: number): number | null {
  const runs = /`+/g
  runs.lastIndex = start
  for (let run = runs.exec(line); run !== null; run = runs.exec(line))
    if (run[0].length === length) return runs.lastIndex
  return null
}

/** URLs that are links in any case, and an `@`, plain or as an entity, that is not within a word. */
const PARTS =
  /(?<![^\s*_~(])https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[/:?#][^\s<>()[\]|*"'`\\]*)?|(?<![a-z0-9])(@|&#0*64;|&#x0*40;|&commat;)(?=[\w-])/gi

const split = (text: string): string =>
  text.replace(PARTS, (part, at?: string) => (at === undefined ? part : `${at}${WORD_JOINER}`))
