import { Search } from 'lucide-react'
import { type RefObject, useEffect, useRef } from 'react'
import { Input } from './field.tsx'

const typing_ms = 250

type Props = {
  box: RefObject<HTMLInputElement | null>
  label: string
  placeholder: string
  value: string
  /** Called shortly after the last key; undefined for an empty box. */
  on_text: (text: string | undefined) => void
  /** Reduced height, for a toolbar. */
  low?: boolean
  className: string
}

/**
 * A box to filter by text. While it has the focus, its text is not replaced when `value` changes from
 * outside, for example by Back.
 */
export function FilterBox({ box, label, placeholder, value, on_text, low = false, className }: Props) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (box.current && document.activeElement !== box.current) box.current.value = value
  }, [box, value])
  return (
    <div className={`relative ${className}`}>
      <Search
        aria-hidden
        className={`pointer-events-none absolute size-4 text-faint ${low ? 'top-1.5 left-2' : 'top-2 left-2.5'}`}
      />
      <Input
        ref={box}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        maxLength={200}
        defaultValue={value}
        className={low ? 'h-7! pl-7.5' : 'pl-8'}
        onKeyDown={event => event.key === 'Escape' && event.currentTarget.blur()}
        onChange={event => {
          const text = event.target.value.trim() || undefined
          clearTimeout(timer.current)
          timer.current = setTimeout(() => on_text(text), typing_ms)
        }}
      />
    </div>
  )
}
