import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { visible } from '../../../text/visible.ts'
import { digestOf } from '../../../trace/changes/digest.ts'
import { languageOf } from '../../../trace/changes/language.ts'
import { highlightText, MAX_HIGHLIGHTED } from '../changes/highlighter.ts'

/**
 * The lines of a text file with their numbers. It is two texts beside each other, so that a long file takes
 * few elements.
 */
export function FileCode({ path, text }: { path: string; text: string }) {
  const { shown, lines } = useMemo(() => {
    const shown = visible(text.replaceAll('\r\n', '\n'))
    return { shown, lines: shown.split('\n').length - (shown.endsWith('\n') ? 1 : 0) }
  }, [text])
  const language = languageOf(path)
  const highlighted = useQuery({
    queryKey: ['highlighted', language, digestOf(shown)],
    queryFn: () => highlightText(shown, language ?? ''),
    enabled: language !== null && shown.length <= MAX_HIGHLIGHTED,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const numbers = useMemo(() => Array.from({ length: lines }, (_, index) => index + 1).join('\n'), [lines])
  return (
    <section
      aria-label="Content"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
      tabIndex={0}
      className="file-code min-h-0 flex-1 overflow-auto bg-surface outline-offset-[-2px]"
    >
      <div className="flex min-w-max">
        <pre
          aria-hidden
          className="file-numbers sticky left-0 select-none bg-surface pr-2 pl-3 text-right text-faint"
        >
          {numbers}
        </pre>
        <pre className="flex-1 pr-3 pl-2">
          <code>
            {highlighted.data?.map(([part, classes], index) =>
              classes === '' ? (
                part
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order
                <span key={index} className={classes}>
                  {part}
                </span>
              ),
            ) ?? shown}
          </code>
        </pre>
      </div>
    </section>
  )
}
