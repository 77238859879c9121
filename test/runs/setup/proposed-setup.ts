import { pathsToRead } from '../../../src/setup-detection/files.ts'
import { propose } from '../../../src/setup-detection/propose.ts'

/** Files of a repository; the programs of the machine are listed in `there`. */
export function proposed(
  files: Record<string, string>,
  there: string[] = ['node', 'npm', 'python3', 'python3:ensurepip', 'make', 'gcc'],
) {
  const paths = Object.keys(files)
  const read = new Map(pathsToRead(paths).map(path => [path, files[path] ?? '']))
  const proposal = propose({ paths, files: read }, new Map(there.map(name => [name, ''])))
  return {
    ...proposal,
    shown: proposal.commands.map(({ command }) => command),
    proofs: proposal.to_prove.map(({ proofs }) => proofs.map(({ kind, command }) => `${kind}: ${command}`)),
  }
}

/** A package.json. */
export const manifest = (more: Record<string, unknown>) => JSON.stringify({ name: 'shop', ...more })
export const tested = { scripts: { test: 'mocha' }, devDependencies: { mocha: '^11.0.0' } }
