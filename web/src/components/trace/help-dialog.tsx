import { Link } from '@tanstack/react-router'
import { Dialog } from '../../ui/dialog.tsx'

const keys: [string[], string][] = [
  [['j', 'k'], 'Next, previous entry'],
  [['Enter', 'o'], 'Open or close the entry'],
  [['e', 'E'], 'Next, previous error'],
  [['f'], 'Follow the end'],
  [['/'], 'Filter by text'],
  [['?'], 'Show this list'],
  [['Ctrl+Enter'], 'Send the follow-up'],
]

export function HelpDialog({ open, on_close }: { open: boolean; on_close: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" open={open} on_close={on_close}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2">
        {keys.map(([names, meaning]) => (
          <div key={meaning} className="contents">
            <dt className="flex gap-1.5">
              {names.map(name => (
                <kbd
                  key={name}
                  className="min-w-6 rounded border border-line border-b-2 bg-sunken px-1.5 text-center font-mono text-xs leading-5"
                >
                  {name}
                </kbd>
              ))}
            </dt>
            <dd className="text-muted">{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-4 text-faint text-xs">Shortcuts are disabled while you type.</p>
      <p className="mt-2 text-xs">
        <Link to="/docs" className="text-accent hover:underline">
          API reference
        </Link>
      </p>
    </Dialog>
  )
}
