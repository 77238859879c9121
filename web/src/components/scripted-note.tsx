import { Notice } from '../ui/notice.tsx'

const example = `Add a changelog.

\`\`\`playbook
- write: { path: CHANGELOG.md, content: "# Changelog\\n" }
- run: git status --short
- answer: The changelog is there.
\`\`\``

/** Says what a scripted model is, wherever somebody is about to give it a task. */
export function ScriptedNote({ is_default }: { is_default: boolean }) {
  return (
    <Notice>
      <p>
        <strong>{is_default ? 'No language model is configured, so this run is scripted.' : 'This model plays a script.'}</strong> It does
        what a fenced <code className="font-mono">playbook</code> block of the prompt says, step by step: run, write, edit, ask, answer.
        Without such a block it only looks around the repository and tells what it saw.
      </p>
      <details className="mt-1">
        <summary className="inline-flex min-h-6 items-center text-accent">An example, and how to get a model</summary>
        <pre className="my-2 overflow-x-auto rounded-md bg-sunken p-2.5 font-mono text-xs">{example}</pre>
        <p>
          Start the service with a key of a provider, for example <code className="font-mono">ANTHROPIC_API_KEY</code>,{' '}
          <code className="font-mono">OPENAI_API_KEY</code> or <code className="font-mono">OPENAI_COMPATIBLE_BASE_URL</code>, to have tasks
          done by a language model.
        </p>
      </details>
    </Notice>
  )
}
