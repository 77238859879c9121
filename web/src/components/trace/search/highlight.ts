import { textMatches } from '../../../trace/search/text-matches.ts'

/** More matches than a person sees at once. */
const MAX_HIGHLIGHTS = 2000

/** Marks a text in the entries of a feed, without changing the document, until `stop`. */
export type Highlighter = {
  /** Keeps the first match in the entry at this index in view, from when it is rendered; null: no entry. */
  reveal: (index: number | null) => void
  stop: () => void
}

export function highlight(box: HTMLElement, q: string, on_reveal: () => void): Highlighter {
  let frame = 0
  let revealed: number | null = null
  const paint = () => {
    const ranges: Range[] = []
    for (const row of box.querySelectorAll<HTMLElement>('[data-index]')) {
      const found = rangesIn(row, q, MAX_HIGHLIGHTS - ranges.length)
      ranges.push(...found)
      const [first] = found
      if (first === undefined || revealed === null || Number(row.dataset.index) !== revealed) continue
      on_reveal()
      scrollTo(first, box)
    }
    CSS.highlights.set('search', new Highlight(...ranges))
  }
  const schedule = () => {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(paint)
  }
  const observer = new MutationObserver(schedule)
  observer.observe(box, { childList: true, subtree: true, characterData: true })
  schedule()
  return {
    reveal(index) {
      revealed = index
      if (index !== null) schedule()
    },
    stop() {
      observer.disconnect()
      cancelAnimationFrame(frame)
      CSS.highlights.delete('search')
    },
  }
}

function rangesIn(row: HTMLElement, q: string, limit: number): Range[] {
  const nodes: Node[] = []
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) nodes.push(walker.currentNode)
  const texts = nodes.map(node => node.nodeValue ?? '')
  return textMatches(texts, q, limit).flatMap(parts =>
    parts.flatMap(({ text, start, end }) => {
      const node = nodes[text]
      if (node === undefined) return []
      const range = new Range()
      range.setStart(node, start)
      range.setEnd(node, end)
      return [range]
    }),
  )
}

/** Scrolls every box around a range, up to `outermost`, so much that it is shown. */
function scrollTo(range: Range, outermost: HTMLElement): void {
  for (let box = range.startContainer.parentElement; box !== null; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY)) {
      const [match, view] = [range.getBoundingClientRect(), box.getBoundingClientRect()]
      if (match.top < view.top || match.bottom > view.bottom)
        box.scrollTop += match.top - view.top - view.height / 3
    }
    if (box === outermost) return
  }
}
