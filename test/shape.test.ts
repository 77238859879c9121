import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { centre, from_server, type Room, rooms, web_rooms } from './rooms.ts'
import { clone, type Import, sourceFiles } from './source-tree.ts'

/** What is started from outside: the service, the operator's command and the command line. */
const entries = ['src/admin.ts', 'src/client/cli/main.ts', 'src/main.ts']

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
  const tests = [...sourceFiles('src', ['.test.ts']), ...sourceFiles('web/src', ['.test.ts']), ...sourceFiles('test', ['.ts'])]
  const long = [...server, ...page, ...tools, ...tests].filter(file => file.lines > 300)
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

/**
 * Whether a JSON text becomes a value of an assumed type, by a cast or because `JSON.parse` returns `any`. Its value must be declared as
 * `unknown`, or be an argument of a function that reads it. A copy of a value of this program has the type of that value.
 */
function parsesUnchecked(text: string): boolean {
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, '')
  return [...code.matchAll(/JSON\.parse\((?!JSON\.stringify\()(.*\) as )?/g)].some(({ index, 1: cast }) => {
    const before = code.slice(0, index)
    if (cast !== undefined) return true
    if (/: unknown = $|(?<!new )\b[\w.]+\($/.test(before)) return false
    return !before.endsWith('return ') || !before.slice(before.lastIndexOf('): ')).startsWith('): unknown {')
  })
}

test('JSON is parsed by a schema, or by `storedJson` where this service wrote it', () => {
  const files = [...server, ...page].filter(file => parsesUnchecked(file.text) && file.path !== 'src/core/json.ts')
  expect(files.map(file => file.path)).toEqual([])
})

test.each([
  'const rows = JSON.parse(text)',
  'const row: Row = JSON.parse(text)',
  'const { id } = JSON.parse(text)',
  'function read(): [string, number][] {\n  return JSON.parse(text)\n}',
  'const read = (): Row => JSON.parse(text)',
  'new Map<string, number>(JSON.parse(text))',
  'use(JSON.parse(text) as Row)',
])('JSON of an assumed shape is found: %s', code => expect(parsesUnchecked(code)).toBe(true))

test.each([
  'const row: unknown = JSON.parse(text)',
  'function read(): unknown {\n  return JSON.parse(text)\n}',
  'Row.parse(JSON.parse(text))',
  'const copy: Row = JSON.parse(JSON.stringify(row))',
])('JSON that is checked passes: %s', code => expect(parsesUnchecked(code)).toBe(false))

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
