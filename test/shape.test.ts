import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { clone, type Import, sourceFiles } from './source-tree.ts'

/**
 * The permitted imports. A room is a top folder or file of src. Every room may import contract and core, which are pure.
 * `code`: other rooms, or single files of them. `types`: seen by the compiler only, nothing of it is loaded.
 * `packages`: from npm. `node`: Node's own modules, true for all.
 */
type Room = { code?: string[]; types?: string[]; packages?: string[]; node?: true | string[] }

const centre = ['src/contract', 'src/core']
const rooms: Record<string, Room> = {
  'src/contract': { packages: ['zod'] },
  // `node:net` for what an address is, not for a connection.
  'src/core': { code: ['src/contract'], packages: ['yaml'], node: ['node:crypto', 'node:net'] },
  // Detection without a model: pure, like contract and core.
  'src/log-analysis': {},
  'src/setup-detection': { packages: ['smol-toml', 'yaml'] },
  // The same on separate threads, for texts that would block the event loop.
  'src/redaction': { node: ['node:worker_threads'] },
  // Rows and texts.
  'src/store': { packages: ['pg'], node: ['node:crypto', 'node:fs/promises', 'node:timers/promises'] },
  'src/trace': { types: ['src/agent/tool.ts', 'src/model/port.ts', 'src/store/runs/append.ts'] },
  'src/live': { code: ['src/store/notify.ts', 'src/store/leases/worker-sessions.ts'], packages: ['pg'] },
  // The API: SQL only through service and store, Fastify only in http, and no worker in either.
  'src/service': {
    code: [
      'src/forge/port.ts',
      'src/forge/sync.ts',
      'src/log-analysis',
      'src/redaction',
      'src/store',
      'src/trace/entry.ts',
      'src/trace/recorded-log.ts',
      'src/trace/redacted-entry.ts',
    ],
    types: ['src/forge/forges.ts', 'src/live/feed.ts', 'src/queue/consumer.ts'],
    node: ['node:crypto'],
  },
  'src/http': {
    code: ['src/service'],
    types: ['src/live', 'src/telemetry/port.ts'],
    packages: ['fastify', '@fastify/cors', '@fastify/static', 'zod'],
    node: ['node:crypto', 'node:fs', 'node:fs/promises', 'node:net', 'node:path', 'node:stream/promises', 'node:zlib'],
  },
  // Counts and traces the reports of those who see its port.
  'src/telemetry': {
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-proto',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
      '@prometheus-io/client',
    ],
    node: ['node:http', 'node:net'],
  },
  // The work: the agent sees two ports and no database; only the worker sees both sides.
  'src/model': {
    packages: ['ai', '@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai', '@ai-sdk/openai-compatible'],
    node: ['node:async_hooks'],
  },
  'src/agent': {
    code: ['src/model/port.ts', 'src/sandbox/files.ts', 'src/sandbox/port.ts', 'src/setup-detection'],
    node: ['node:fs'],
  },
  'src/worker': {
    code: [
      ...['src/agent', 'src/egress', 'src/forge/port.ts', 'src/forge/sync.ts', 'src/git', 'src/redaction'],
      ...['src/log-analysis', 'src/sandbox', 'src/setup-detection', 'src/store', 'src/trace'],
    ],
    types: ['src/forge/forges.ts', 'src/live/hub.ts', 'src/model/port.ts', 'src/system/users.ts', 'src/telemetry/port.ts'],
    node: ['node:crypto', 'node:fs', 'node:fs/promises', 'node:path', 'node:timers/promises'],
  },
  // Outgoing reports: they pass the same address checks as the traffic of sandboxes.
  'src/webhooks': {
    code: ['src/egress/post.ts', 'src/redaction', 'src/store'],
    types: ['src/egress/connect-checked.ts', 'src/queue/consumer.ts', 'src/telemetry/port.ts'],
    node: ['node:timers/promises'],
  },
  // Claims and handles the items of any queue.
  'src/queue': { node: ['node:timers/promises'] },
  // Other forges, by their APIs: it reaches them with the `fetch` that it is given.
  'src/forge': { code: ['src/store'], packages: ['@octokit/auth-app', '@octokit/core', '@octokit/request-error', 'zod'] },
  // What touches the machine.
  'src/system': { node: true },
  'src/postgres': { code: ['src/system'], packages: ['pg'], node: true },
  // What container engines answer is parsed.
  'src/sandbox': { code: ['src/system'], node: true, packages: ['zod'] },
  // Hostile requests come in here: it sees no database and no sandbox.
  'src/egress': { code: ['src/system'], node: true },
  'src/git': { code: ['src/system'], node: true },
  // Clients: the contract and nothing of the server; the SDK runs in a browser, so nothing of Node either.
  'src/client/sdk': { packages: ['eventsource-parser'] },
  'src/client/cli': { code: ['src/client/sdk'], packages: ['commander'], node: true },
  'src/backup': {
    code: ['src/store/migrate.ts'],
    packages: ['pg', 'pg-copy-streams', 'zod'],
    node: ['node:crypto', 'node:events', 'node:fs', 'node:fs/promises', 'node:stream/promises', 'node:zlib'],
  },
  // Composition.
  'src/config-fields.ts': { packages: ['zod'] },
  'src/config.ts': { code: ['src/config-fields.ts'], packages: ['zod'], node: ['node:fs'] },
  'src/banner.ts': { types: ['src/service/access/first-start.ts', 'src/system/start-credentials.ts'] },
  'src/compose': {
    code: [
      'src/egress',
      'src/forge',
      'src/git',
      'src/http',
      'src/live',
      'src/model',
      'src/queue',
      'src/sandbox',
      'src/service',
      'src/store',
      'src/telemetry',
      'src/webhooks',
      'src/worker',
    ],
    types: ['src/agent/related-runs.ts', 'src/config.ts', 'src/system'],
    node: ['node:fs', 'node:os', 'node:path', 'node:timers/promises'],
  },
  'src/admin.ts': {
    code: [
      ...[
        'src/backup',
        'src/config.ts',
        'src/postgres',
        'src/service/access/operator.ts',
        'src/service/secrets/rotate-secrets.ts',
        'src/store/database.ts',
        'src/store/migrate.ts',
      ],
      ...['src/system'],
    ],
    node: ['node:fs', 'node:path', 'node:url', 'node:util'],
  },
  'src/main.ts': {
    code: ['src/banner.ts', 'src/compose', 'src/config.ts', 'src/postgres', 'src/store/migrate.ts', 'src/system'],
    node: ['node:fs', 'node:module', 'node:url'],
  },
}

/** What is started from outside: the service, the operator's command and the command line. */
const entries = ['src/admin.ts', 'src/client/cli/main.ts', 'src/main.ts']

/** The page knows of the server what every client knows, and its own rooms only downwards. */
const from_server = ['src/contract', 'src/core/repositories/sample.ts']
const web_rooms: Record<string, string[]> = {
  'web/src/ui': [],
  'web/src/text': [],
  'web/src/api': [...from_server, 'src/client/sdk', 'src/core/pause.ts'],
  'web/src/reference': ['web/src/api'],
  'web/src/trace': [...from_server, 'src/client/sdk/follow.ts', 'web/src/api', 'web/src/text'],
  'web/src/components': [
    ...from_server,
    ...[
      'src/client/sdk/follow.ts',
      'web/src/api',
      'web/src/reference',
      'web/src/search-params.ts',
      'web/src/text',
      'web/src/trace',
      'web/src/ui',
    ],
  ],
  'web/src/pages': [
    ...from_server,
    ...[
      'src/client/sdk/error.ts',
      'web/src/api',
      'web/src/app-route.tsx',
      'web/src/components',
      'web/src/reference',
      'web/src/search-params.ts',
      'web/src/text',
      'web/src/trace',
      'web/src/ui',
    ],
  ],
}

const server = sourceFiles('src', ['.ts']).filter(file => !file.path.endsWith('.test.ts'))
const page = sourceFiles('web/src', ['.ts', '.tsx']).filter(file => !file.path.endsWith('.test.ts'))
const tools = [...sourceFiles('scripts', ['.ts']), ...sourceFiles('bench', ['.ts'])]

const within = (target: string, folders: string[]) => folders.some(folder => target === folder || target.startsWith(`${folder}/`))
const roomOf = (path: string, known: string[]) => known.find(room => within(path, [room]))

/** Types of Node's modules are free: they open nothing. */
function allows(room: Room, own: string, { target, types, from_package }: Import): boolean {
  const shared = centre.includes(own) ? [] : centre
  if (!from_package) return within(target, [own, ...shared, ...(room.code ?? []), ...(types ? (room.types ?? []) : [])])
  if (!target.startsWith('node:')) return (room.packages ?? []).includes(target)
  return Array.isArray(room.node) ? room.node.includes(target) || types : room.node === true
}

test('every import of src is one that the table allows', () => {
  const strangers = server.flatMap(file => {
    const own = roomOf(file.path, Object.keys(rooms))
    const room = own === undefined ? undefined : rooms[own]
    if (own === undefined || room === undefined) return [`${file.path} is in no room of the table`]
    return file.imports
      .filter(item => !allows(room, own, item))
      .map(item => `${file.path} imports ${item.target}${item.types ? ' (types)' : ''}`)
  })
  expect(strangers).toEqual([])
})

test('the table contains no unused room or permission', () => {
  const unused = Object.entries(rooms).flatMap(([own, room]) => {
    const imports = server.filter(file => within(file.path, [own])).flatMap(file => file.imports)
    const has = (folder: string, types: boolean) => imports.some(item => (types || !item.types) && within(item.target, [folder]))
    return [
      ...(existsSync(join(clone, own)) ? [] : [own]),
      ...(room.code ?? []).filter(folder => !has(folder, false)).map(folder => `${own} → ${folder}`),
      ...(room.types ?? []).filter(folder => !has(folder, true)).map(folder => `${own} → ${folder} (types)`),
      ...(room.packages ?? []).filter(name => !imports.some(item => item.target === name)).map(name => `${own} → ${name}`),
    ]
  })
  expect(unused).toEqual([])
})

test('the web page sees the contract and the sample of the server, its lower rooms never a higher one, and nothing sees the server start', () => {
  const strangers = page.flatMap(file => {
    const own = roomOf(file.path, Object.keys(web_rooms))
    const may = own === undefined ? ['web/src', ...from_server] : [own, ...(web_rooms[own] ?? [])]
    return file.imports.filter(item => !item.from_package && !within(item.target, may)).map(item => `${file.path} imports ${item.target}`)
  })
  expect(strangers).toEqual([])
  const rooms_of_page = readdirSync(join(clone, 'web/src'), { withFileTypes: true }).filter(entry => entry.isDirectory())
  expect(rooms_of_page.map(entry => `web/src/${entry.name}`).filter(name => !(name in web_rooms) && name !== 'web/src/styles')).toEqual([])
  const importers = [...server, ...page, ...tools].filter(file => file.imports.some(item => entries.includes(item.target)))
  expect(importers.map(file => file.path)).toEqual([])
})

test('only entry points read the environment', () => {
  const readers = [...server, ...page].filter(file => /\bprocess\.env\b/.test(file.text)).map(file => file.path)
  expect(readers.filter(path => !['src/config.ts', ...entries].includes(path))).toEqual([])
})

test('only entry points in src print', () => {
  const printers = server
    .filter(file => /\bconsole\.|process\.(stdout|stderr)\.write|\} = process$/m.test(file.text))
    .map(file => file.path)
  expect(printers.sort()).toEqual(entries)
})

test('no file has more than 300 lines', () => {
  const long = [...server, ...page, ...tools].filter(file => file.lines > 300)
  expect(long.map(file => `${file.path}: ${file.lines}`)).toEqual([])
})

/** Folders that may grow: one file for each resource. */
const growing = ['src/contract/endpoints']

test('no folder has more than 25 files', () => {
  const counts = new Map<string, number>()
  for (const folder of ['src', 'web/src', 'test', 'bench', 'scripts'])
    for (const { path } of sourceFiles(folder, ['.ts', '.tsx'])) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  expect(
    [...counts].filter(([folder, files]) => files > 25 && !growing.includes(folder)).map(([folder, files]) => `${folder}: ${files}`),
  ).toEqual([])
})

test('no name is meaningless: utils, helpers, common, types, index', () => {
  const empty = /^(utils?|helpers?|common|misc|shared|types|index|manager)$/
  const names = [...server, ...page, ...tools].flatMap(({ path }) => [...dirname(path).split('/'), basename(path).replace(/\..*$/, '')])
  expect([...new Set(names)].filter(name => empty.test(name))).toEqual([])
})

test('no check of the compiler is switched off', () => {
  const off = /@ts-(ignore|nocheck|expect-error)|[:<(|]\s*any\b[\s,;>)\]=[]|,\s*any\s*[>\]]|\bas any\b/
  const files = [...server, ...page, ...tools].filter(file => off.test(file.text.replace(/^\s*(\/\/|\/?\*).*$/gm, '')))
  expect(files.map(file => file.path)).toEqual([])
})

test('JSON is parsed by a schema, or by `storedJson` where this service wrote it', () => {
  const unchecked = /JSON\.parse\((?!.*JSON\.stringify).*\) as |(const|let) (\{[^}]*\}|\w+: (?!unknown\b).*) = JSON\.parse\(/
  const files = [...server, ...page].filter(file => unchecked.test(file.text) && file.path !== 'src/core/json.ts')
  expect(files.map(file => file.path)).toEqual([])
})

test('no combined signal holds a timeout: the garbage collector may take it away, `deadline` stays', () => {
  const files = [...server, ...page].filter(({ text }) =>
    /AbortSignal\.any\([^;]*AbortSignal\.timeout/.test(text.replace(/^\s*(\/\/|\/?\*).*$/gm, '')),
  )
  expect(files.map(file => file.path)).toEqual([])
})

test('ARCHITECTURE.md names every folder of src and web/src, and only existing paths', () => {
  const text = readFileSync(join(clone, 'ARCHITECTURE.md'), 'utf8')
  const named = [...text.matchAll(/`((?:src|web|test|bench|docs|scripts|runtime)\/[\w./-]*)`/g)].map(match => match[1] ?? '')
  expect(named.filter(path => !existsSync(join(clone, path)))).toEqual([])
  const folders = ['src', 'web/src'].flatMap(top =>
    readdirSync(join(clone, top), { withFileTypes: true })
      .filter(entry => entry.isDirectory() && sourceFilesBelow(`${top}/${entry.name}`))
      .map(entry => `${top}/${entry.name}/`),
  )
  expect(folders.filter(folder => !named.includes(folder))).toEqual([])
})

/** Empty folders do not count: git does not track them. */
function sourceFilesBelow(folder: string): boolean {
  return readdirSync(join(clone, folder), { recursive: true, withFileTypes: true }).some(entry => entry.isFile())
}
