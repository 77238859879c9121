import type { Tree } from '../tree.ts'
import { dockerfileHints } from './dockerfile.ts'
import { cursorHints, devcontainerHints } from './editor-settings.ts'
import { type CommandKind, kindOf, MAX_COMMAND_CHARS, RUNS_DOWNLOADS } from './kind-of-command.ts'
import { markdownHints } from './markdown.ts'
import { copilotStepHints, workflowHints } from './workflows.ts'

/** A command in a file of the repository. `setup`: the file describes it as a preparation. */
type HintedCommand = { command: string; from: string; setup: boolean }
export type CommandHint = HintedCommand & { kind: CommandKind; ecosystem: string | null }

const MAX_PER_FILE = 40

type Reader = (text: string) => { command: string; setup: boolean }[]

/** The files that describe setup and tests; those for agents first. */
export const SOURCES: readonly [RegExp, Reader][] = [
  [/^AGENTS\.md$/, text => markdownHints(text, 'agents')],
  [/^(?:CLAUDE\.md|\.github\/copilot-instructions\.md)$/, text => markdownHints(text, 'agents')],
  [/^\.cursor\/environment\.json$/, cursorHints],
  [/^(?:\.github\/workflows\/)?copilot-setup-steps\.ya?ml$/, copilotStepHints],
  [/^(?:\.devcontainer\/(?:[\w-]+\/)?devcontainer\.json|\.devcontainer\.json)$/, devcontainerHints],
  [/^\.github\/workflows\/[^/]+\.ya?ml$/, workflowHints],
  [/^\.gitlab-ci\.yml$|^\.travis\.yml$/, workflowHints],
  [/^Dockerfile$|^\.devcontainer\/Dockerfile$/, dockerfileHints],
  [
    /^(?:CONTRIBUTING|README|INSTALL|HACKING|DEVELOPMENT)(?:\.md|\.markdown|\.rst|\.txt)?$/i,
    text => markdownHints(text, 'people'),
  ],
]

/** Returns all commands in order of their sources; and the excluded ones, with the reason. */
export function commandHints(tree: Tree): {
  hints: CommandHint[]
  left_out: { command: string; from: string; why: string }[]
} {
  const hints: CommandHint[] = []
  const left_out: { command: string; from: string; why: string }[] = []
  const seen = new Set<string>()
  const done = new Set<string>()
  const folders = new Set(
    tree.paths.flatMap(path => (path.includes('/') ? [path.slice(0, path.indexOf('/'))] : [])),
  )
  for (const [pattern, read] of SOURCES)
    for (const [path, text] of tree.files) {
      if (!pattern.test(path) || done.has(path)) continue
      done.add(path)
      for (const mentioned of read(text).slice(0, MAX_PER_FILE)) {
        const plain = mentioned.command.trim()
        // Later commands run in the folder of the repository.
        const command = /^cd \S+ && /.test(plain) ? `(${plain})` : plain
        if (command === '' || command.length > MAX_COMMAND_CHARS || seen.has(command)) continue
        seen.add(command)
        const { kind, ecosystem, why_not } = kindOf(command)
        // Results of another step on another machine do not exist here.
        const into = /^\(?cd (\/(?=[\w./-]* &&)|[\w.-]+(?=(?:\/[\w./-]*)? &&))/.exec(command)?.[1]
        if (into !== undefined && !into.startsWith('.') && !folders.has(into)) continue
        if (kind !== 'left_out') hints.push({ ...mentioned, command, from: path, kind, ecosystem })
        else if (
          why_not === RUNS_DOWNLOADS ||
          (mentioned.setup && why_not !== undefined && why_not !== 'prepares nothing')
        )
          left_out.push({ command, from: path, why: why_not })
      }
    }
  return { hints, left_out }
}
