import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { expect, test } from 'vitest'
import { rolesAndScopesMarkdown } from '../scripts/roles-and-scopes.ts'
import { dumpSchema, SCHEMA_FILE, TYPES_FILE, tableTypes } from '../scripts/schema-dump.ts'
import { SHAPES_FILE, shapesText } from '../scripts/write-credential-shapes.ts'
import { DOCUMENT_FILE, documentText, ERRORS_FILE, ROLES_FILE } from '../scripts/write-openapi.ts'
import { PYTHON_PACKAGE, pythonFiles } from '../scripts/write-python-client.ts'
import { readConfig } from '../src/config.ts'
import { type Endpoint, pathsOf } from '../src/contract/endpoint.ts'
import { endpoints } from '../src/contract/endpoints.ts'
import { errorReferenceMarkdown } from '../src/contract/error-reference.ts'
import { toolInputs } from '../src/contract/runs/tools.ts'
import { createInstruments } from '../src/telemetry/instruments.ts'
import { createTestDatabase } from './database.ts'

type Json = { [key: string]: unknown }
type Parameter = { name: string; in: string; required: boolean; schema: Json }
type Operation = Json & { operationId: string; parameters: Parameter[] }

const document = JSON.parse(documentText('http://service.test')) as Json & {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Json> & { schemas: Record<string, Json> }
}
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

test('docs/openapi.json is the document generated from the contract table: after a change run `node scripts/write-openapi.ts`', () => {
  expect(readFileSync(DOCUMENT_FILE, 'utf8')).toBe(documentText())
})

test('docs/reference/errors.md is the reference that the table of errors generates: after a change run `node scripts/write-openapi.ts`', () => {
  expect(readFileSync(ERRORS_FILE, 'utf8')).toBe(errorReferenceMarkdown())
})

test('docs/reference/roles-and-scopes.md is what the roles and the contract table generate: after a change run `node scripts/write-openapi.ts`', () => {
  expect(readFileSync(ROLES_FILE, 'utf8')).toBe(rolesAndScopesMarkdown())
})

test('the generated files of the Python client are current: after a change run `node scripts/write-python-client.ts`', () => {
  const files = pythonFiles()
  for (const [path, text] of files)
    expect({ path, text: readFileSync(PYTHON_PACKAGE + path, 'utf8') }).toEqual({ path, text })
  const folders = ['models', 'operations'].flatMap(folder =>
    readdirSync(PYTHON_PACKAGE + folder).map(name => `${folder}/${name}`),
  )
  expect(folders.filter(path => path.endsWith('.py') && !files.has(path))).toEqual([])
})

test('docs/reference/metrics.md has every metric of the service, with its type and its labels, and no other', async () => {
  const page = readFileSync(new URL('../docs/reference/metrics.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| `agentrun_(\w+)` \| (\w+) \|([^|]*)\|/gm)].map(
    ([, name = '', type = '', labels = '']) =>
      `${name} ${type} ${[...labels.matchAll(/\w+/g)].join(',')}`.trim(),
  )
  const source = readFileSync(new URL('../src/telemetry/instruments.ts', import.meta.url), 'utf8')
  const created = [
    ...source.matchAll(
      /\b(counter|gauge|histogram)\(\s*'(\w+)',\s*'[^']*'(?:,\s*\w+)?(?:,\s*\[([^\]]*)\])?/g,
    ),
  ].map(([, type = '', name = '', labels = '']) =>
    `${name} ${type} ${[...labels.matchAll(/\w+/g)].join(',')}`.trim(),
  )
  expect(documented.toSorted()).toEqual(created.toSorted())
  const exposed = [
    ...(await createInstruments().registry.metrics()).matchAll(/^# TYPE agentrun_(\w+) (\w+)$/gm),
  ]
  expect(exposed.map(([, name = '', type = '']) => `${name} ${type}`).sort()).toEqual(
    created.map(line => line.split(' ').slice(0, 2).join(' ')).sort(),
  )
})

test('src/redaction/secretlint-shapes.ts has the rules of the preset: after an update run `node scripts/write-credential-shapes.ts`', () => {
  expect(readFileSync(SHAPES_FILE, 'utf8')).toBe(shapesText())
})

test('the document does not depend on the address of the service except for the one line that contains it', () => {
  const { servers, ...rest } = document
  expect(servers).toEqual([{ url: 'http://service.test' }])
  expect(rest).toEqual(JSON.parse(documentText(), (key, value) => (key === 'servers' ? undefined : value)))
})

test('src/store/schema.sql is the schema that the migrations make: after a change run `node scripts/write-schema.ts`', async () => {
  await using database = await createTestDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    expect(await dumpSchema(client)).toBe(readFileSync(SCHEMA_FILE, 'utf8'))
  } finally {
    await client.end()
  }
})

test('src/store/tables.ts has the columns of that schema: after a change run `node scripts/write-schema.ts`', () => {
  expect(readFileSync(TYPES_FILE, 'utf8')).toBe(tableTypes(readFileSync(SCHEMA_FILE, 'utf8')))
})

test('the types of a table require what has no default, and omit what the database computes', () => {
  const columns = [
    'id bigint not null generated always as identity',
    "tags text[] not null default '{}'::text[]",
    'name text not null',
    'cost numeric',
    'twice bigint not null generated always as ((id * 2)) stored',
    'constraint a_pkey PRIMARY KEY (id)',
  ].map(line => `  ${line}`)
  const types = tableTypes(`create table a (\n${columns.join(',\n')}\n) with (fillfactor=70);\n`)
  const [, body] = types.split('  a: {\n')
  expect(body).toBe(
    '    id?: number\n    tags?: readonly string[]\n    name: string\n    cost?: number | string | null\n  }\n}\n',
  )
})

test('the dump sees a column, a constraint, an index and a trigger that a migration would add', async () => {
  await using database = await createTestDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    const dumps = [await dumpSchema(client)]
    for (const change of [
      'alter table messages add column extra int',
      'alter table messages alter column extra set default 7',
      'alter table messages add check (extra > 0)',
      'create index messages_extra on messages (extra)',
      'alter table messages set (fillfactor = 60)',
      "create function nothing() returns trigger language plpgsql as 'begin return new; end'",
      'create trigger messages_nothing before insert on messages execute function nothing()',
    ]) {
      await client.query(change)
      dumps.push(await dumpSchema(client))
    }
    expect(new Set(dumps).size).toBe(dumps.length)
  } finally {
    await client.end()
  }
})

test('every operation of the table is in the document once, under an id of its own', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  const wanted = Object.entries(endpoints as Record<string, Endpoint>).flatMap(([name, endpoint]) =>
    pathsOf(endpoint).map((_path, n) => (n === 0 ? name : `${name}_alias_${n}`)),
  )
  expect(ids.sort()).toEqual(wanted.sort())
})

test('every path parameter is declared, required and never null', () => {
  for (const { path, method, operation } of operations) {
    const declared = operation.parameters.filter(parameter => parameter.in === 'path')
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1])
    expect({ path, method, names: declared.map(parameter => parameter.name).sort() }).toEqual({
      path,
      method,
      names: named.sort(),
    })
    for (const { required, schema } of declared) {
      expect(required).toBe(true)
      const bounded = schema.pattern !== undefined || schema.enum !== undefined
      expect(schema).toEqual(expect.objectContaining({ type: bounded ? 'string' : 'integer' }))
    }
  }
})

test('no parameter is declared twice in one operation', () => {
  for (const { operation } of operations) {
    const names = operation.parameters.map(parameter => `${parameter.in} ${parameter.name}`)
    expect(new Set(names).size).toBe(names.length)
  }
})

test('every reference leads to a component of the document, and every component is used or is a tool', () => {
  const used = new Set<unknown>()
  JSON.stringify(document, (key, value) => {
    if (key === '$ref') used.add(value)
    return value
  })
  const { securitySchemes: _named, ...components } = document.components
  const known = Object.entries(components).flatMap(([kind, named]) =>
    Object.keys(named).map(name => `#/components/${kind}/${name}`),
  )
  expect([...used].filter(reference => !known.includes(String(reference)))).toEqual([])
  expect(known.filter(reference => !used.has(reference) && !reference.includes('/Tool_'))).toEqual([])
})

test('defaults and bounds of the logs page are in the document as the specification defines them', () => {
  const logs = operations.find(({ operation }) => operation.operationId === 'getAgentRunLogs')?.operation
  expect(logs).toMatchObject({ 'x-stability': 'alpha' })
  const schemaOf = (name: string) => logs?.parameters.find(parameter => parameter.name === name)?.schema
  expect(schemaOf('skip')).toMatchObject({ type: 'integer', minimum: 0, default: 0 })
  expect(schemaOf('limit')).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 100 })
})

test('the input of every tool is published with a description', () => {
  for (const name of Object.keys(toolInputs)) {
    const schema = document.components.schemas[`Tool_${name}`]
    expect(schema).toMatchObject({ type: 'object', description: expect.stringMatching(/\w{3}/) })
    expect(Object.keys(schema?.properties as Json)).not.toEqual([])
  }
})

test('docs/reference/configuration.md has every variable of the configuration, with its default, and no other', () => {
  const source = readFileSync(new URL('../src/config.ts', import.meta.url), 'utf8')
  const known = [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(match => match[1] ?? '')
  const page = readFileSync(new URL('../docs/reference/configuration.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| (`[A-Z][A-Z0-9_]+`(?:, `[A-Z0-9_]+`)*) \| ([^|]+?) \|/gm)]
  const documented = rows.flatMap(([, names = '', value = '']) =>
    [...names.matchAll(/\w+/g)].map(([name]) => ({ name, value })),
  )
  expect(documented.map(row => row.name).sort()).toEqual(known.sort())

  const defaults = Object.entries(readConfig({}))
  expect(defaults.length).toBeGreaterThan(20)
  for (const [name, value] of defaults) {
    const shown = documented.find(row => row.name === name)?.value
    expect({ name, shown }).toEqual({
      name,
      shown: Array.isArray(value) ? 'none' : `\`${defaultText(value)}\``,
    })
  }
})

function defaultText(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value !== 'object' || value === null) return String(value)
  const { requests, seconds } = value as { requests: number; seconds: number }
  return `${requests}/${seconds}`
}
