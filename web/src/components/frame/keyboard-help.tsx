import { Dialog } from '../../ui/dialog.tsx'
import { Key } from '../../ui/key.tsx'
import { command_key } from './keys.ts'
import { all_navigation } from './navigation.ts'

type Shortcut = { keys: string[]; meaning: string }

const everywhere: Shortcut[] = [
  { keys: [`${command_key}+K`], meaning: 'Search and commands' },
  { keys: ['c'], meaning: 'New run' },
  ...all_navigation.map(({ key, name }) => ({ keys: [`g ${key}`], meaning: name })),
  { keys: ['['], meaning: 'Show or hide the sidebar' },
  { keys: ['/'], meaning: 'Search or filter by text' },
  { keys: ['Esc'], meaning: 'Close what is open' },
  { keys: ['?'], meaning: 'Show this list' },
]

const in_a_trace: Shortcut[] = [
  { keys: ['j', 'k'], meaning: 'Next, previous entry' },
  { keys: ['↓', '↑'], meaning: 'The same, in the entries' },
  { keys: ['Home', 'End'], meaning: 'First, last entry' },
  { keys: ['Enter', 'o'], meaning: 'Open or close the entry' },
  { keys: ['Tab'], meaning: 'To the controls of an open entry' },
  { keys: ['n', 'N'], meaning: 'Next, previous match' },
  { keys: ['e', 'E'], meaning: 'Next, previous failure' },
  { keys: ['1', '2', '3', '4'], meaning: 'The tabs, on a phone also 5' },
  { keys: ['f'], meaning: 'Follow the end' },
  { keys: ['l'], meaning: 'Show or hide the outline' },
  { keys: ['i'], meaning: 'Write a follow-up' },
  { keys: ['Esc'], meaning: 'Clear the search' },
  { keys: [`${command_key}+Enter`], meaning: 'Send the follow-up' },
]

/** All keys of the page. */
export default function KeyboardHelp({ on_close }: { on_close: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" on_close={on_close}>
      <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
        <Shortcuts title="Everywhere" shortcuts={everywhere} />
        <Shortcuts title="In a trace" shortcuts={in_a_trace} />
      </div>
      <p className="mt-4 text-faint text-xs">Single keys are disabled while you type.</p>
    </Dialog>
  )
}

const Shortcuts = ({ title, shortcuts }: { title: string; shortcuts: Shortcut[] }) => (
  <section>
    <h3 className="mb-2 font-medium text-xs">{title}</h3>
    <dl className="space-y-1.5">
      {shortcuts.map(({ keys, meaning }) => (
        <div key={meaning} className="flex items-center justify-between gap-4">
          <dt className="text-muted">{meaning}</dt>
          <dd className="flex gap-1">
            {keys.map(key => (
              <Key key={key}>{key}</Key>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  </section>
)
