import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { readPage } from './documentation.ts'
import { type SourceFile, sourceFiles } from './source-tree.ts'

/**
 * The subfolders of each large folder, lowest first. A file imports values and types only from its own
 * subfolder or from lower ones. A file directly in the large folder is above its subfolders, unless it loads
 * nothing from them: then it is below, and may name their types, as a port and a context do.
 */
const folder_order: Record<string, string[]> = {
  'src/contract': [
    'organizations',
    'runs',
    'pull-requests',
    'repositories',
    'webhooks',
    'mcp',
    'oauth',
    'openapi',
    'endpoints',
  ],
  'src/core': [
    'concurrency',
    'json',
    'cluster',
    'network',
    'text',
    'secrets',
    'repositories',
    'agents',
    'access',
    'runs',
    'pull-requests',
    'forges',
    'webhooks',
  ],
  'src/git': ['process', 'refs', 'objects', 'mirrors', 'read', 'publish', 'serve', 'workspace'],
  'src/setup-detection': ['ecosystems', 'hints', 'repair'],
  'src/sandbox': [
    'seccomp',
    'resources',
    'workspaces',
    'commands',
    'process',
    'bubblewrap',
    'containers',
    'kubernetes',
  ],
  'src/service': [
    'access',
    'repositories',
    'organizations',
    'secrets',
    'webhooks',
    'runs',
    'run-kinds',
    'pull-requests',
    'forges',
  ],
  'src/store': ['access', 'queue', 'webhooks', 'workspaces', 'runs', 'leases', 'forges', 'pull-requests'],
  'src/worker': [
    'claim',
    'base',
    'sandbox',
    'setup',
    'workspace',
    'mcp',
    'publish',
    'checks',
    'turns',
    'sweep',
  ],
}

const server = sourceFiles('src', ['.ts']).filter(file => !file.path.endsWith('.test.ts'))

test.each(Object.entries(folder_order))(
  '%s: a file imports only from its own subfolder and lower ones',
  (folder, order) => {
    const files = server.filter(
      file => file.path.startsWith(`${folder}/`) && !file.path.includes('/migrations/'),
    )
    const inside = (file: SourceFile) => file.imports.filter(item => item.target.startsWith(`${folder}/`))
    const isDirect = (path: string) => dirname(path) === folder
    const isLow = (file: SourceFile) => inside(file).every(item => item.types || isDirect(item.target))
    const low = new Set(files.filter(file => isDirect(file.path) && isLow(file)).map(file => file.path))
    const indexOf = (path: string) => order.indexOf(path.slice(folder.length + 1).split('/')[0] ?? '')
    const levelOf = (path: string) => (low.has(path) ? -1 : isDirect(path) ? order.length : indexOf(path))
    const unlisted = files
      .filter(file => !isDirect(file.path) && indexOf(file.path) === -1)
      .map(file => file.path)
    expect(unlisted).toEqual([])
    const upward = files.flatMap(file =>
      inside(file).flatMap(item =>
        levelOf(item.target) > levelOf(file.path) && !(item.types && low.has(file.path))
          ? [`${file.path} imports ${item.target}`]
          : [],
      ),
    )
    expect(upward).toEqual([])
  },
)

test('ARCHITECTURE.md lists every folder of src, and the subfolders of the large ones in this order', () => {
  const [folders = '', topics = ''] = readPage('ARCHITECTURE.md').split(
    '\n| folder | its topics, lowest first |\n',
  )
  const listed = [...topics.matchAll(/^\| `([^`]+)\/` \| (.*) \|$/gm)].map(([, folder, order = '']) => [
    folder,
    order.replace(/ \([^)]*\)/g, '').split(', '),
  ])
  expect(Object.fromEntries(listed)).toEqual(folder_order)
  const all = new Set(server.map(({ path }) => path.split('/').slice(0, 2).join('/')))
  const folders_of_src = [...all].filter(path => !path.endsWith('.ts'))
  expect(folders_of_src.filter(path => !folders.includes(`\n| \`${path}/\` |`))).toEqual([])
})

test('no files import each other in a circle, lazily or for a type either', () => {
  const files = ['src', 'web/src', 'test', 'bench', 'scripts'].flatMap(folder =>
    sourceFiles(folder, ['.ts', '.tsx']),
  )
  const imports = new Map(files.map(file => [file.path, file.imports.map(item => item.target)]))
  const checked = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, above: string[]) => {
    if (above.includes(path)) circles.push([...above.slice(above.indexOf(path)), path].join(' → '))
    if (checked.has(path)) return
    checked.add(path)
    for (const target of imports.get(path) ?? []) visit(target, [...above, path])
  }
  for (const path of imports.keys()) visit(path, [])
  expect(circles).toEqual([])
})
