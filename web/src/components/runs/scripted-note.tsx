import { Link } from '@tanstack/react-router'
import { Notice } from '../../ui/notice.tsx'

const example = `Add a changelog.

\`\`\`playbook
- write: { path: CHANGELOG.md, content: "# Changelog\\n" }
- run: git status --short
- answer: The changelog is there.
\`\`\``

/** Explains what a scripted model is, wherever a user is about to give it a task. */
export function ScriptedNote({ is_default }: { is_default: boolean }) {
  return (
    <Notice>
      <p>
        <strong>
          {is_default
            ? 'No language model is configured, so this run is scripted.'
            : 'This model is scripted.'}
        </strong>{' '}
        It executes the steps of a fenced <code className="font-mono">playbook</code> block in the prompt:
        run, write, edit, ask, answer. Without such a block it only explores the repository and reports what
        it contains.
      </p>
      <details className="mt-1">
        <summary className="inline-flex min-h-6 items-center text-accent">
          Example, and how to configure a model
        </summary>
        <pre className="my-2 overflow-x-auto rounded-md bg-sunken p-2.5 font-mono text-xs">{example}</pre>
        <p>
          To run tasks with a language model, an ADMIN sets the key of a provider in{' '}
          <Link to="/settings/models" className="text-accent underline">
            Models and keys
          </Link>
          . It applies at once.
        </p>
      </details>
    </Notice>
  )
}
