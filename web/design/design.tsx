import type { ReactNode } from 'react'
import { PageTitle } from '../src/components/page.tsx'
import { ThemeButton } from '../src/components/theme-button.tsx'
import Toasts from '../src/ui/toasts.tsx'
import { Choices, Limits, Navigation } from './navigation-samples.tsx'
import { Controls, Feedback, Forms, Lists, Overlays, States } from './samples.tsx'
import { Colours, Spacing, Type } from './tokens.tsx'

const sections: [string, string, () => ReactNode][] = [
  [
    'Type',
    'Six sizes. 13 px is the text of the page; headings differ by weight before they differ by size.',
    Type,
  ],
  ['Colours', 'Each has one meaning, and no state is shown by colour alone.', Colours],
  ['Spacing', 'Steps of 4 px. Controls are 28 px high, rows 36 px, and 40 px under a finger.', Spacing],
  [
    'Buttons and badges',
    'One primary button per view. A control that cannot be used stays in reach and shows the reason.',
    Controls,
  ],
  ['Forms', 'The label above the field, the hint or the problem below it.', Forms],
  ['Choices', 'Several of a list, and a box that filters what is below it.', Choices],
  [
    'Feedback',
    'Inside the page where it belongs; a message for what the page does not show by itself.',
    Feedback,
  ],
  ['States', 'What a page shows instead of its content.', States],
  ['Lists', 'A table where columns are compared. The whole row is a link.', Lists],
  ['Limits', 'Green, yellow from 80 % on, red when nothing is left. The number is beside the bar.', Limits],
  ['Navigation', 'The pages of a section are tabs or a list, each with its own address.', Navigation],
  ['Overlays', 'Escape closes each of them, and the focus returns.', Overlays],
]

/** The parts that pages are made of, in all their states. Open to everybody, because it contains no data. */
export function DesignPage() {
  return (
    <main id="main" className="min-h-dvh bg-canvas">
      <PageTitle>Design</PageTitle>
      <div className="mx-auto max-w-4xl px-4 py-8 md:px-6">
        <div className="flex items-center justify-between">
          <h1 className="font-semibold text-xl tracking-tight">Design</h1>
          <ThemeButton />
        </div>
        {sections.map(([title, about, Sample]) => (
          <section key={title} aria-label={title} className="mt-8 border-line border-t pt-5">
            <h2 className="font-semibold text-lg">{title}</h2>
            <p className="mb-4 text-muted">{about}</p>
            <Sample />
          </section>
        ))}
      </div>
      <Toasts />
    </main>
  )
}
