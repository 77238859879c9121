import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { sourceFiles } from './source-tree.ts'

/**
 * The subfolders of each large folder, lowest first. A file loads values only from its own subfolder or from lower ones; types are free. A
 * file directly in the large folder is above its subfolders, unless it loads nothing from them: then it is below.
 */
const folder_order: Record<string, string[]> = {
  'src/contract': ['organizations', 'runs', 'pull-requests', 'repositories', 'webhooks', 'openapi', 'endpoints'],
  'src/core': ['network', 'text', 'redaction', 'secrets', 'repositories', 'access', 'runs', 'pull-requests', 'forges', 'webhooks'],
  'src/git': ['process', 'refs', 'objects', 'mirrors', 'read', 'publish', 'serve', 'workspace'],
  'src/setup-detection': ['ecosystems', 'hints', 'repair'],
  'src/sandbox': ['seccomp', 'resources', 'workspaces', 'commands', 'process', 'bubblewrap', 'containers', 'kubernetes'],
  'src/service': ['access', 'repositories', 'organizations', 'secrets', 'webhooks', 'runs', 'run-kinds', 'pull-requests', 'forges'],
  'src/store': ['access', 'queue', 'webhooks', 'leases', 'workspaces', 'runs', 'forges', 'pull-requests'],
  'src/worker': ['claim', 'base', 'sandbox', 'setup', 'workspace', 'publish', 'checks', 'turns', 'sweep'],
}
/** Upward imports that must still be removed. */
const exceptions = [
  'src/contract/runs/run-inputs.ts imports src/contract/webhooks/webhooks.ts',
  'src/service/pull-requests/remote-pull-request.ts imports src/service/forges/forges.ts',
]

const server = sourceFiles('src', ['.ts']).filter(file => !file.path.endsWith('.test.ts'))

test.each(Object.entries(folder_order))('%s: a file loads only from its own subfolder and lower ones', (folder, order) => {
  const files = server.filter(file => file.path.startsWith(`${folder}/`) && !file.path.includes('/migrations/'))
  const loads = (file: (typeof files)[number]) => file.imports.filter(item => !item.types && item.target.startsWith(`${folder}/`))
  const isDirect = (path: string) => dirname(path) === folder
  const low = new Set(files.filter(file => isDirect(file.path) && loads(file).every(item => isDirect(item.target))).map(file => file.path))
  const indexOf = (path: string) => order.indexOf(path.slice(folder.length + 1).split('/')[0] ?? '')
  const levelOf = (path: string) => (low.has(path) ? -1 : isDirect(path) ? order.length : indexOf(path))
  const unlisted = files.filter(file => !isDirect(file.path) && indexOf(file.path) === -1).map(file => file.path)
  expect(unlisted).toEqual([])
  const upward = files.flatMap(file =>
    loads(file).flatMap(item => (levelOf(item.target) > levelOf(file.path) ? [`${file.path} imports ${item.target}`] : [])),
  )
  expect(upward).toEqual(exceptions.filter(line => line.startsWith(`${folder}/`)))
})
