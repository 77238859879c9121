const sizes = [
  ['text-xl font-semibold tracking-tight', '20 / 28', 'Heading of a page'],
  ['text-lg font-semibold', '16 / 24', 'Heading of a section'],
  ['text-base', '14 / 22', 'Text to read: answers, dialogs'],
  ['text-sm', '13 / 20', 'Text of the page, fields, buttons'],
  ['text-xs', '12 / 18', 'Labels, hints, facts'],
  ['text-2xs', '11 / 16', 'Badges, column names'],
  ['font-mono text-xs', '12 / 18', 'Code, branches, commands'],
] as const

export const Type = () => (
  <dl className="space-y-2">
    {sizes.map(([style, size, use]) => (
      <div key={style} className="grid grid-cols-[6rem_1fr] items-baseline gap-4">
        <dt className="tabular text-faint text-xs">{size}</dt>
        <dd className={style}>{use}</dd>
      </div>
    ))}
  </dl>
)

const backgrounds = [
  ['bg-canvas', 'canvas', 'The page'],
  ['bg-surface', 'surface', 'What lies on it: lists, fields, dialogs'],
  ['bg-sunken', 'sunken', 'The sidebar, terminals'],
  ['bg-hover', 'hover', 'Under the pointer, selected'],
  ['bg-line', 'line', 'Borders of lists, cards and fields'],
  ['bg-strong', 'strong', 'Borders under the pointer, scroll bars'],
] as const
const texts = [
  ['text-ink', 'ink', 'Text'],
  ['text-muted', 'muted', 'Secondary text'],
  ['text-faint', 'faint', 'Labels, hints, times'],
  ['text-accent', 'accent', 'Links, and what is active'],
  ['text-ok', 'ok', 'Succeeded, added'],
  ['text-bad', 'bad', 'Failed, removed, dangerous'],
  ['text-warn', 'warn', 'Waits for a person, near a limit'],
  ['text-paused', 'paused', 'Paused, merged, scripted'],
] as const

export const Colours = () => (
  <div className="grid gap-6 sm:grid-cols-2">
    <ul className="space-y-2">
      {backgrounds.map(([style, name, meaning]) => (
        <li key={name} className="flex items-center gap-3">
          <span aria-hidden className={`size-9 rounded-md border border-line ${style}`} />
          <span>
            {name} <span className="block text-faint text-xs">{meaning}</span>
          </span>
        </li>
      ))}
    </ul>
    <ul className="space-y-1.5">
      {texts.map(([style, name, meaning]) => (
        <li key={name} className={style}>
          <span aria-hidden className="mr-3 inline-block size-8 rounded-md bg-current align-middle" />
          <span className="inline-block w-20 font-medium">{name}</span> {meaning}
        </li>
      ))}
    </ul>
  </div>
)

const steps = [1, 2, 3, 4, 6, 8] as const
const widths = { 1: 'w-1', 2: 'w-2', 3: 'w-3', 4: 'w-4', 6: 'w-6', 8: 'w-8' }

export const Spacing = () => (
  <ul className="flex flex-wrap items-end gap-6">
    {steps.map(step => (
      <li key={step} className="text-center text-faint text-xs">
        <span aria-hidden className={`mx-auto mb-1 block h-6 bg-accent ${widths[step]}`} />
        {step * 4} px
      </li>
    ))}
  </ul>
)
