import type { ReactNode } from 'react'

/** The first lines of a text and how many there are; `null` rest when nothing is left out. */
export function clampLines(text: string, lines: number): { shown: string; hidden: number } {
  let end = -1
  for (let line = 0; line < lines; line++) {
    end = text.indexOf('\n', end + 1)
    if (end === -1) return { shown: text, hidden: 0 }
  }
  const hidden = text.slice(end + 1).split('\n').length
  return text.slice(end + 1).trim() === ''
    ? { shown: text, hidden: 0 }
    : { shown: text.slice(0, end), hidden }
}

/** The last lines of a text, and how many precede them. */
export function lastLines(text: string, lines: number): { shown: string; hidden: number } {
  const whole = text.trimEnd()
  let start = whole.length
  for (let line = 0; line < lines && start !== -1; line++)
    start = start === 0 ? -1 : whole.lastIndexOf('\n', start - 1)
  if (start === -1) return { shown: whole, hidden: 0 }
  return { shown: whole.slice(start + 1), hidden: whole.slice(0, start).split('\n').length }
}

type Props = {
  text: string
  lines: number
  open: boolean
  on_toggle: () => void
  /** Shows the last lines instead of the first ones. */
  end?: boolean
  children: (shown: string) => ReactNode
}

/** Shows the first or the last lines until it is opened. */
export function Clamped({ text, lines, open, on_toggle, end = false, children }: Props) {
  const { shown, hidden } = end ? lastLines(text, lines) : clampLines(text, lines)
  const more = `Show ${hidden.toLocaleString('en')} ${end ? 'earlier' : 'more'} ${hidden === 1 ? 'line' : 'lines'}`
  const button = hidden > 0 && (
    <button
      type="button"
      onClick={on_toggle}
      className="mx-2 my-0.5 min-h-6 rounded px-1 text-accent text-xs hover:underline"
    >
      {open ? 'Show less' : more}
    </button>
  )
  return (
    <>
      {end && !open && button}
      {children(open ? text : shown)}
      {!(end && !open) && button}
    </>
  )
}
