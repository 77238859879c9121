import { CopyButton } from '../../ui/copy-button.tsx'

/** Text to copy, as it is. */
export function CodeBlock({ label, text }: { label: string; text: string }) {
  return (
    <div className="relative">
      <section
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        tabIndex={0}
        className="max-h-[28rem] overflow-auto rounded-md border border-line bg-sunken"
      >
        <pre className="w-max px-3 py-2.5 pr-10 font-mono text-xs">{text}</pre>
      </section>
      <div className="absolute top-1 right-1 rounded-md bg-sunken">
        <CopyButton label={`Copy: ${label}`} text={() => text} />
      </div>
    </div>
  )
}
