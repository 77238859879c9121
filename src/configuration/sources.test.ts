import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig, schema } from '../config.ts'
import { describeSources } from './describe.ts'
import { isSecretName } from './secret-names.ts'

/** A data folder with these files, of mode 600. */
function folderOf(files: { env?: string; toml?: string }) {
  const path = mkdtempSync(join(tmpdir(), 'configuration-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  if (files.env !== undefined) writeFileSync(join(path, '.env'), files.env, { mode: 0o600 })
  if (files.toml !== undefined) writeFileSync(join(path, 'agentrun.toml'), files.toml, { mode: 0o600 })
  return path
}
const load = (folder: string, env: Record<string, string> = {}) => loadConfig(env, () => folder)
const mistakesOf = (folder: string, env: Record<string, string> = {}) => {
  try {
    load(folder, env)
    return 'none'
  } catch (error) {
    return (error as Error).message.replaceAll(folder, 'DATA')
  }
}

test('a variable takes precedence over .env, and .env over the configuration file; an empty value counts as absent', () => {
  const toml =
    'AGENTRUN_PORT = 1\nAGENTRUN_HOST = "file"\nAGENTRUN_INIT_ORG = "file"\nAGENTRUN_LOG_LEVEL = "warn"\n'
  const folder = folderOf({ toml, env: 'AGENTRUN_PORT=2\nAGENTRUN_HOST="env"\nAGENTRUN_LOG_LEVEL=\n' })
  expect(load(folder, { AGENTRUN_PORT: '3', AGENTRUN_HOST: '' }).config).toMatchObject({
    AGENTRUN_PORT: 3,
    AGENTRUN_HOST: 'env',
    AGENTRUN_INIT_ORG: 'file',
    AGENTRUN_LOG_LEVEL: 'warn',
  })
})

test('NAME_FILE of one source and NAME of the next are not a contradiction, of one source they are', () => {
  const folder = folderOf({ env: 'AGENTRUN_INIT_ORG=from the file' })
  writeFileSync(join(folder, 'name'), 'from the variable')
  const variable = { AGENTRUN_INIT_ORG_FILE: join(folder, 'name') }
  expect(load(folder, variable).config.AGENTRUN_INIT_ORG).toBe('from the variable')
  const both = folderOf({ env: `AGENTRUN_INIT_ORG=a\nAGENTRUN_INIT_ORG_FILE=${join(folder, 'name')}` })
  expect(mistakesOf(both)).toContain(
    'DATA/.env, line 1: AGENTRUN_INIT_ORG: given both directly and by AGENTRUN_INIT_ORG_FILE',
  )
})

test('TOML gives numbers, switches, lists and tables as their variables do', () => {
  const toml = `AGENTRUN_SAMPLE = true
AGENTRUN_SANDBOX_CPUS = 1.5
AGENTRUN_ALLOWED_HOSTS = ["a.example", "b.example"]
AZURE_KEY = "key-of-the-model"
[AGENTRUN_MODELS."azure/gpt"]
api = "openai-responses"
base_url = "https://acme.example/openai/v1"
api_key_env = "AZURE_KEY"
`
  expect(load(folderOf({ toml })).config).toMatchObject({
    AGENTRUN_SAMPLE: true,
    AGENTRUN_SANDBOX_CPUS: 1.5,
    AGENTRUN_ALLOWED_HOSTS: ['a.example', 'b.example'],
    AGENTRUN_MODELS: { 'azure/gpt': { api_key: 'key-of-the-model' } },
  })
})

test('.env permits comments, quotes and export', () => {
  const env =
    '# comment\n\n export AGENTRUN_INIT_ORG="Acme # 1"  # comment\r\nAGENTRUN_HOST = \'h\'\nAGENTRUN_LOG_LEVEL=debug # comment\n'
  expect(load(folderOf({ env })).config).toMatchObject({
    AGENTRUN_INIT_ORG: 'Acme # 1',
    AGENTRUN_HOST: 'h',
    AGENTRUN_LOG_LEVEL: 'debug',
  })
})

test('mistakes of all sources are listed together, with file and line, and without a value', () => {
  const env =
    'AGENTRUN_PORT=70000\nwhat is this\nAGENTRUN_PROT=1\nAGENTRUN_INIT_TOKEN=ab#secret\nA="secret\nAGENTRUN_HOST=a\nAGENTRUN_HOST=b\n'
  const toml =
    'OPENAI_KEY = "secret"\nAGENTRUN_DATA_DIR = "/x"\nAGENTRUN_INIT_ORG = 1979-05-27\n[AGENTRUN_LIMIT_STANDARD]\nsecret = 1\n'
  expect(mistakesOf(folderOf({ env, toml }), { AGENTRUN_LOG_LEVEL: 'loud' }).split('\n')).toEqual([
    'the configuration has 10 mistakes:',
    '  DATA/.env, line 2: must be NAME=value',
    '  DATA/.env, line 4: AGENTRUN_INIT_TOKEN: a value that contains # needs quotes',
    '  DATA/.env, line 5: A: the quote is not closed',
    '  DATA/.env, line 7: AGENTRUN_HOST: is given twice',
    '  DATA/agentrun.toml, line 3: AGENTRUN_INIT_ORG: must be a text, a number, true or false, or a list of texts without commas',
    '  DATA/agentrun.toml, line 4: AGENTRUN_LIMIT_STANDARD: must be a text, a number, true or false, or a list of texts without commas',
    '  DATA/agentrun.toml, line 2: AGENTRUN_DATA_DIR: can only be given as a variable',
    '  DATA/.env, line 1: AGENTRUN_PORT: must be a whole number from 0 to 65535',
    expect.stringMatching(/^ {2}AGENTRUN_LOG_LEVEL: /),
    '  DATA/.env, line 3: AGENTRUN_PROT: unknown variable',
  ])
  // Which names belong to models is known once the rest is right.
  expect(mistakesOf(folderOf({ toml: '\nOPENAI_KEY = "secret"\n' }))).toContain(
    'DATA/agentrun.toml, line 2: OPENAI_KEY: unknown variable',
  )
})

test('a text that is not TOML is reported with its line, and without its content', () => {
  const message = mistakesOf(folderOf({ toml: 'AGENTRUN_PORT = 1\nAGENTRUN_SECRET_KEY = secret!\n' }))
  expect(message).toMatch(/DATA\/agentrun\.toml, line 2: Invalid TOML/)
  expect(message).not.toContain('secret!')
})

test('a file with a secret that every user can read is refused, and a file that every user can change', () => {
  const folder = folderOf({ env: 'AGENTRUN_PORT=0\nOPENAI_API_KEY=secret\n' })
  const file = join(folder, '.env')
  for (const [mode, refusal] of [
    [
      0o644,
      'DATA/.env: contains OPENAI_API_KEY, and every user of this machine can read it: chmod 600 DATA/.env',
    ],
    [0o602, 'DATA/.env: every user of this machine can change it: chmod 600 DATA/.env'],
    [0o640, 'none'],
  ] as const) {
    chmodSync(file, mode)
    expect(mistakesOf(folder)).toContain(refusal)
  }
  const key = folderOf({ toml: 'MY_CREDENTIAL = "x"\n' })
  chmodSync(join(key, 'agentrun.toml'), 0o644)
  expect(mistakesOf(key)).toContain('contains MY_CREDENTIAL, and every user')
  const open = folderOf({ toml: 'AGENTRUN_PORT = 0\n' })
  chmodSync(join(open, 'agentrun.toml'), 0o644)
  expect(mistakesOf(open)).toBe('none')
})

test('a name that is not a variable is a mistake, not a setting that is lost', () => {
  const toml = '__proto__ = "secret"\n"a b" = "secret"\n"AGENTRUN_PORT " = 1\n'
  expect(
    mistakesOf(folderOf({ env: 'A_KEY=1\n__proto__=secret\n', toml }))
      .split('\n')
      .slice(1, 5),
  ).toEqual([
    '  DATA/.env, line 2: "__proto__": unknown variable',
    '  DATA/agentrun.toml, line 1: "__proto__": unknown variable',
    '  DATA/agentrun.toml, line 2: "a b": unknown variable',
    '  DATA/agentrun.toml, line 3: "AGENTRUN_PORT ": unknown variable',
  ])
  expect(mistakesOf(folderOf({ toml: '[__proto__]\nAGENTRUN_PORT = 5\n' }))).toContain(
    'DATA/agentrun.toml, line 1: __proto__: must be',
  )
})

test.runIf(process.getuid?.() === 0)(
  'a file of another user is refused, also behind a link; a link itself is followed',
  () => {
    const [folder, target] = [folderOf({}), folderOf({ toml: 'AGENTRUN_PORT = 7\n' })]
    symlinkSync(join(target, 'agentrun.toml'), join(folder, 'agentrun.toml'))
    expect(load(folder).config.AGENTRUN_PORT).toBe(7)
    chownSync(join(target, 'agentrun.toml'), 4711, 4711)
    expect(mistakesOf(folder)).toContain(
      'DATA/agentrun.toml: belongs to the user with id 4711, who can change it: chown 0 DATA/agentrun.toml',
    )
  },
)

test('AGENTRUN_CONFIG names another configuration file, which must exist and be readable', () => {
  const folder = folderOf({ toml: 'AGENTRUN_PORT = 1\n' })
  const other = folderOf({ toml: 'AGENTRUN_PORT = 2\n' })
  expect(load(folder, { AGENTRUN_CONFIG: join(other, 'agentrun.toml') }).config.AGENTRUN_PORT).toBe(2)
  expect(mistakesOf(folder, { AGENTRUN_CONFIG: join(folder, 'none.toml') })).toContain(
    'AGENTRUN_CONFIG: there is no file DATA/none.toml',
  )
  expect(mistakesOf(folder, { AGENTRUN_CONFIG: 'agentrun.toml' })).toContain(
    'AGENTRUN_CONFIG: must be the absolute path',
  )
  expect(mistakesOf(folder, { AGENTRUN_CONFIG_FILE: '/x' })).toContain(
    'AGENTRUN_CONFIG_FILE: the name is AGENTRUN_CONFIG',
  )
  mkdirSync(join(other, '.env'))
  expect(mistakesOf(other)).toContain(
    `DATA/.env: cannot be read by the user with id ${process.getuid?.()} (EISDIR)`,
  )
})

test('the description names the origin of every value, and no secret', () => {
  const env =
    'OPENAI_API_KEY=secret-1\nOPENAI_BASE_URL=https://user:secret-2@models.example/v1\nAZURE_KEY=secret-3\n'
  const models =
    '{"azure/x":{"api":"openai-responses","base_url":"https://a.example","api_key_env":"AZURE_KEY"}}'
  const folder = folderOf({ env, toml: 'AGENTRUN_PORT = 0\n' })
  const { sources } = load(folder, {
    AGENTRUN_MODELS: models,
    DATABASE_URL: 'postgres://u:secret-4@db/x',
    PATH: '/bin',
  })
  const lines = describeSources(sources, Object.keys(schema.shape)).map(line =>
    line.replaceAll(folder, 'DATA'),
  )
  expect(lines.slice(0, -1)).toEqual([
    '# DATA/.env: 3 variables',
    '# DATA/agentrun.toml: 1 variable',
    'AGENTRUN_PORT=0 (DATA/agentrun.toml, line 1)',
    'DATABASE_URL=[hidden] (variable)',
    expect.stringMatching(/^AGENTRUN_MODELS=\{"azure.*… \(variable\)$/),
    'OPENAI_API_KEY=[hidden] (DATA/.env, line 1)',
    'OPENAI_BASE_URL=https://[hidden]@models.example/v1 (DATA/.env, line 2)',
    'AZURE_KEY=[hidden] (DATA/.env, line 3)',
  ])
  expect(lines.at(-1)).toBe(
    `# ${Object.keys(schema.shape).length - 6} further variables of the service have their defaults`,
  )
})

test('keys, tokens, headers and the address of the database are secrets, limits and sizes are not', () => {
  const secrets = Object.keys(schema.shape).filter(isSecretName)
  expect(secrets).toEqual([
    ...[
      'DATABASE_URL',
      'AGENTRUN_INIT_TOKEN',
      'AGENTRUN_AGENTS',
      'AGENTRUN_EGRESS_PROXY',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    ],
    ...[
      'AGENTRUN_SECRET_KEY',
      'AGENTRUN_SECRET_KEY_PREVIOUS',
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GOOGLE_GENERATIVE_AI_API_KEY',
    ],
    'OPENAI_COMPATIBLE_API_KEY',
  ])
})
