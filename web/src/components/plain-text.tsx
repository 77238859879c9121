import { useMemo } from 'react'
import { ansiParts } from '../text/ansi.ts'
import { visible } from '../text/visible.ts'

/** More than this is not drawn; copying gives all of it. */
const drawn_chars = 200_000

/** Text of an agent or a person as it is, line breaks kept, nothing in it interpreted. */
export const PlainText = ({ text, className = '' }: { text: string; className?: string }) => (
  <p className={`whitespace-pre-wrap [overflow-wrap:anywhere] ${className}`}>
    {useMemo(() => visible(cut(text)), [text])}
  </p>
)

/** Output of a program with its colours, as text. */
export function AnsiText({ text }: { text: string }) {
  const parts = useMemo(() => ansiParts(cut(text)), [text])
  return parts.map((part, index) => {
    if (part.href) {
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never change their order
        <a key={index} href={part.href} target="_blank" rel="noopener noreferrer" className="underline">
          {part.text}
        </a>
      )
    }
    const plain = !part.classes && !part.color && !part.background
    if (plain) return part.text
    return (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never change their order
        key={index}
        className={part.classes || undefined}
        style={{ color: part.color, backgroundColor: part.background }}
      >
        {part.text}
      </span>
    )
  })
}

const cut = (text: string) =>
  text.length <= drawn_chars
    ? text
    : `${text.slice(0, drawn_chars)}\n… ${(text.length - drawn_chars).toLocaleString('en')} more characters`
