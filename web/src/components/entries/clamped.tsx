import type { ReactNode } from 'react'

/** The first lines of a text and how many there are; `null` rest when nothing is left out. */
export function clampLines(text: string, lines: number): { head: string; hidden: number } {
  let end = -1
  for (let line = 0; line < lines; line++) {
    end = text.indexOf('\n', end + 1)
    if (end === -1) return { head: text, hidden: 0 }
  }
  const hidden = text.slice(end + 1).split('\n').length
  return text.slice(end + 1).trim() === '' ? { head: text, hidden: 0 } : { head: text.slice(0, end), hidden }
}

type Props = { text: string; lines: number; open: boolean; on_toggle: () => void; children: (shown: string) => ReactNode }

/** Shows the first lines until it is opened. */
export function Clamped({ text, lines, open, on_toggle, children }: Props) {
  const { head, hidden } = clampLines(text, lines)
  return (
    <>
      {children(open ? text : head)}
      {hidden > 0 && (
        <button type="button" onClick={on_toggle} className="mx-2 my-0.5 min-h-6 rounded px-1 text-accent text-xs hover:underline">
          {open ? 'Show less' : `Show ${hidden.toLocaleString('en')} more ${hidden === 1 ? 'line' : 'lines'}`}
        </button>
      )}
    </>
  )
}
