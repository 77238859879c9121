import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copySources, type Insertion, type SourceCopy } from './source-copy.ts'

// Additions that are a line of a table, as ARCHITECTURE.md describes them: in a copy of the sources they take
// effect without any other change.

let copy: SourceCopy
beforeAll(() => {
  copy = copySources(['src', 'package.json'])
})
afterAll(() => copy[Symbol.dispose]())

/** Returns the `result` of the code, which runs in the copy. */
function run(code: string): unknown {
  const args = ['--input-type=module', '-e', `${code}\nconsole.log(JSON.stringify(result))`]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: copy.folder, encoding: 'utf8' }))
}

/** Returns the `result` without the addition and with it. */
function effectOf(insertions: Insertion[], code: string) {
  const without = run(code)
  using _ = copy.insert(insertions)
  return { without, with: run(code) }
}

test('a known error of a log is a row of a data file', () => {
  const row = {
    code: 'widget_missing',
    patterns: ['^error: no widget named (\\w{1,50})'],
    title: 'A widget is missing',
    cause: 'There is no widget `$1`.',
    remedy: 'Add the widget.',
  }
  const file = 'src/log-analysis/signatures/scripting.json'
  const insertion = { file, behind: '[\n  {', text: `${JSON.stringify(row).slice(1)},\n  {` }
  const code = `
    import { findingsOf } from './src/log-analysis/classify-failure.ts'
    import { commandOf } from './src/log-analysis/commands.ts'
    const [{ code, cause }] = findingsOf(commandOf({
      agent_run_id: 1,
      seq: 5,
      turn: 1,
      message_type: 'ACTION',
      tool_name: 'shell',
      observation: null,
      duration_ms: 10,
      tool_input: { command: 'widgets build' },
      tool_output: { status: 'error', exit_code: 1, output: 'error: no widget named lamp', truncated: false },
    }))
    const result = { code, cause }`
  expect(effectOf([insertion], code)).toMatchObject({
    without: { code: 'command_failed' },
    with: { code: 'widget_missing', cause: 'There is no widget `lamp`.' },
  })
})

test('a file whose change needs an approval is a line of a table', () => {
  const insertion = {
    file: 'src/core/pull-requests/run-elsewhere.ts',
    behind: '\n  CI: [',
    text: `\n    'widgets-ci.y*ml',`,
  }
  const code = `
    import { readApprovals } from './src/core/pull-requests/path-approvals.ts'
    const result = readApprovals([])('deploy/widgets-ci.yaml')?.code ?? null`
  expect(effectOf([insertion], code)).toEqual({ without: null, with: 'ci_workflow_changed' })
})

test('a file with instructions for agents is a name in a list', () => {
  const insertion = {
    file: 'src/core/repositories/instruction-files.ts',
    behind: "FOLDER_FILES = ['AGENTS.md',",
    text: " 'WIDGETS.md',",
  }
  const code = `
    import { isInstructionPath, sortInstructionPaths } from './src/core/repositories/instruction-files.ts'
    const paths = ['WIDGETS.md', 'web/WIDGETS.md'].filter(isInstructionPath)
    const { root, folders } = sortInstructionPaths(paths)
    const result = [root, [...folders.keys()]]`
  expect(effectOf([insertion], code)).toEqual({ without: [[], []], with: [['WIDGETS.md'], ['web']] })
})

test('a variable that sandboxes get is a line of a table', () => {
  const insertion = {
    file: 'src/core/sandbox-environment.ts',
    behind: 'base_environment: Record<string, string> = {',
    text: "\n  WIDGETS: 'on',",
  }
  const code = `
    import { hostEnvironment } from './src/core/sandbox-environment.ts'
    const result = [hostEnvironment(true).WIDGETS ?? null, hostEnvironment(false).WIDGETS ?? null]`
  expect(effectOf([insertion], code)).toEqual({ without: [null, null], with: ['on', 'on'] })
})

test('an ecosystem is a file and a line in each table that names its files and programs', () => {
  const part = `
    import type { Part } from '../proposal.ts'
    import type { Project } from '../tree.ts'
    export function widgetsPart(project: Project): Part | null {
      const manifest = project.toml('widgets.toml')
      if (manifest === null) return null
      const from = project.at('widgets.toml')
      return {
        ecosystem: 'widgets',
        folder: project.folder,
        install: [{ command: 'widgets install', from, why: 'its manifest' }],
        tests: [{ command: 'widgets test', from, why: 'its manifest' }],
        builds: [],
        smokes: [],
        tools: [{ binary: 'widgets', wanted: null, from, package: 'widgets' }],
        lockfiles: [from],
        notes: [],
      }
    }`
  const insertions = [
    { file: 'src/setup-detection/ecosystems/widgets.ts', behind: null, text: part },
    {
      file: 'src/setup-detection/propose.ts',
      behind: "import { rustPart } from './ecosystems/rust.ts'\n",
      text: "import { widgetsPart } from './ecosystems/widgets.ts'\n",
    },
    {
      file: 'src/setup-detection/propose.ts',
      behind: '    rustPart(project),',
      text: ' widgetsPart(project),',
    },
    { file: 'src/setup-detection/files.ts', behind: "...['go.mod',", text: " 'widgets.toml'," },
    { file: 'src/setup-detection/toolchain.ts', behind: "    'cargo',", text: " 'widgets'," },
  ]
  const code = `
    import { pathsToRead } from './src/setup-detection/files.ts'
    import { propose } from './src/setup-detection/propose.ts'
    import { probeCommand } from './src/setup-detection/toolchain.ts'
    const paths = ['widgets.toml']
    const files = new Map(pathsToRead(paths).map(path => [path, 'name = "lamp"']))
    const { ecosystems, commands } = propose({ paths, files }, new Map([['widgets', '']]))
    const result = [ecosystems, commands.map(({ command }) => command), probeCommand().includes(' widgets')]`
  expect(effectOf(insertions, code)).toEqual({
    without: [[], [], false],
    with: [['widgets'], ['widgets install'], true],
  })
})
