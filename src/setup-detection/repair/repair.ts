import type { Step, ToProve } from '../proposal.ts'
import { type FailedCommand, readable } from './failures.ts'
import { missingPythonPackages } from './python-modules.ts'
import { COMMAND_RULES } from './repair-rules.ts'

/** Changed commands, and the reason. `id`: of the rule, which is applied to the same command once. */
export type Repair = { id: string; why: string; commands: Step[]; proof?: string }

/** Modules of the repository itself that its build creates. */
const NOT_BUILT =
  /Cannot find (?:module|package) '(?:\.{1,2}\/|\/workspace\/|file:)[^'\n]*'|ERR_MODULE_NOT_FOUND|Failed to resolve entry for package|ENOENT[^\n]{0,500}\/(?:dist|lib|build|out|es|esm|cjs)\/|Can't resolve '\.[^'\n]*(?:dist|build|lib)|TS6305|Not found: \/workspace\/\S*(?:dist|lib|build|out)\/|Cannot find module '@[\w-]+\/[\w-]+' or its corresponding type|Could not resolve "[^"\n]*(?:dist|build)\b/

/** Returns a change for a failing setup command. `line`: its failing part. */
export function repairCommand(
  commands: Step[],
  n: number,
  line: string,
  failed: FailedCommand,
  applied: ReadonlySet<string>,
): Repair | null {
  const step = commands[n]
  if (step === undefined) return null
  const text = readable(failed.output)
  for (const { id, why, command, output, to, whole: of_whole } of COMMAND_RULES) {
    const subject = of_whole && !step.command.startsWith('(') ? step.command : line
    if (applied.has(`${id} ${step.command}`) || !command.test(subject) || !output.test(text)) continue
    const changed = to(subject, text, step.needs ?? [])
    if (changed.length === 1 && changed[0] === subject) continue
    // Within a folder each part needs its own directory change.
    const whole = changed.map(one =>
      subject === step.command ? one : step.command.replace(subject, () => one),
    )
    const steps = whole.map(one => ({ ...step, command: one, why: `${step.why}; ${why}` }))
    return { id, why, commands: replaced(commands, n, steps) }
  }
  if (!step.optional) return null
  return {
    id: 'left_out',
    why: `an optional step of ${step.from} failed`,
    commands: replaced(commands, n, []),
  }
}

/** Returns a change of the setup for a failing proof. */
export function repairForProof(
  commands: Step[],
  { proofs, ecosystem }: ToProve,
  proof: string,
  failed: FailedCommand,
  applied: ReadonlySet<string>,
): Repair | null {
  const text = readable(failed.output)
  if (ecosystem === 'python') {
    const wanted = missingPythonPackages(text)
    const id = `python_modules ${wanted.join(' ')}`
    if (wanted.length > 0 && !applied.has(id)) return withModules(commands, wanted, id, proof)
    const installed = commands.some(({ command }) =>
      /pip install .{0,1000}-e |\b(?:uv sync|poetry install)\b/.test(command),
    )
    if (
      /PackageNotFoundError|No package metadata was found/.test(text) &&
      !installed &&
      !applied.has('python_package')
    )
      return {
        ...withModules(commands, ['-e .'], 'python_package', proof),
        why: 'it reads its own version, which exists when it is installed',
      }
  }
  const build = proofs.find(
    one =>
      one.kind === 'build' &&
      one.command !== proof &&
      !commands.some(({ command }) => command === one.command),
  )
  if (build !== undefined && NOT_BUILT.test(text) && !applied.has('build')) {
    const why = 'its tests need what is built'
    return {
      id: 'build',
      why,
      commands: [...commands, { command: build.command, from: build.from, why, optional: false }],
    }
  }
  const legacy = 'NODE_OPTIONS=--openssl-legacy-provider '
  if (/ERR_OSSL_EVP_UNSUPPORTED|digital envelope routines/.test(text) && !applied.has('openssl'))
    return { id: 'openssl', why: 'it was written for an older OpenSSL', commands, proof: `${legacy}${proof}` }
  return null
}

function withModules(commands: Step[], wanted: string[], id: string, proof: string): Repair {
  const why = 'the tests import what no list of dependencies has'
  const step = (command: string): Step => ({ command, from: proof, why, optional: false })
  // Into the virtual environment of the tool that created one.
  const tool_call = commands.flatMap(
    ({ command }) => /(?<!\S)(\S*\b(poetry|uv)) (?:install|sync)\b/.exec(command) ?? [],
  )
  const [, manager, name] = tool_call
  if (manager !== undefined) {
    const install = `${manager} ${name === 'poetry' ? 'run ' : ''}pip install ${wanted.join(' ')}`
    return { id, why, commands: [...commands, step(install)] }
  }
  const venv = commands.some(({ command }) => command.startsWith('.venv/') || command.includes('venv .venv'))
  const more = [
    ...(venv ? [] : [step('python3 -m venv --system-site-packages .venv')]),
    step(`.venv/bin/pip install ${wanted.join(' ')}`),
  ]
  return {
    id,
    why,
    commands: [...commands, ...more],
    ...(!venv && { proof: proof.replace(/\bpython3\b/, '.venv/bin/python') }),
  }
}

const replaced = (commands: Step[], n: number, by: Step[]) => [
  ...commands.slice(0, n),
  ...by,
  ...commands.slice(n + 1),
]
