import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from './config.ts'

test('the default ceilings fit a run of 1,000 steps with a full context of 200,000 tokens', () => {
  const config = readConfig({})
  expect(config.AGENTRUN_RUN_MAX_STEPS).toBeGreaterThan(1_000)
  expect(config.AGENTRUN_RUN_MAX_TOKENS).toBeGreaterThanOrEqual(1_000 * 200_000)
})

test('an empty environment is a working configuration', () => {
  const config = readConfig({ PATH: '/usr/bin', AGENTRUN_BASE_URL: '' })
  expect(config).toMatchObject({
    AGENTRUN_HOST: '127.0.0.1',
    AGENTRUN_PORT: 4600,
    AGENTRUN_WORKER_CONCURRENCY: 4,
  })
  expect(config.AGENTRUN_LIMIT_STANDARD).toEqual({ requests: 60, seconds: 30 })
})

test('all mistakes are listed together, and no value is repeated', () => {
  const read = () =>
    readConfig({
      AGENTRUN_PORT: '70000',
      AGENTRUN_INIT_TOKEN: 'too-short-secret',
      AGENTRUN_LIMIT_STANDARD: '60',
      DATABASE_URL: 'mysql://x',
      AGENTRUN_PROT: '1',
    })
  expect(read).toThrow(/5 mistakes/)
  for (const name of [
    'AGENTRUN_PORT',
    'AGENTRUN_INIT_TOKEN',
    'AGENTRUN_LIMIT_STANDARD',
    'DATABASE_URL',
    'AGENTRUN_PROT: unknown',
  ])
    expect(read).toThrow(name)
  expect(read).not.toThrow(/too-short-secret/)
})

test('models come from JSON or a file, with keys from variables or files, and a mistake names the model and the field', () => {
  const folder = mkdtempSync(join(tmpdir(), 'models-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [models, key] = [join(folder, 'models.json'), join(folder, 'key')]
  const azure = {
    api: 'openai-responses',
    base_url: 'https://acme.example/openai/v1',
    api_key_env: 'AZURE_KEY',
  }
  writeFileSync(models, JSON.stringify({ 'azure/gpt': azure }))
  writeFileSync(key, 'from-a-file\n')
  expect(readConfig({}).AGENTRUN_MODELS).toBeUndefined()
  const found = { 'azure/gpt': { ...azure, api_key: 'from-a-file' } }
  expect(readConfig({ AGENTRUN_MODELS: models, AZURE_KEY_FILE: key }).AGENTRUN_MODELS).toEqual(found)
  expect(readConfig({ AGENTRUN_MODELS_FILE: models, AZURE_KEY: 'from-a-file' }).AGENTRUN_MODELS).toEqual(
    found,
  )
  const inline = ' {"openai/gpt-9": {"context_tokens": 64000}}'
  expect(readConfig({ AGENTRUN_MODELS: inline }).AGENTRUN_MODELS).toEqual({
    'openai/gpt-9': { context_tokens: 64_000 },
  })
  expect(() => readConfig({ AGENTRUN_MODELS: models })).toThrow(
    'AGENTRUN_MODELS: azure/gpt, api_key_env: the variable AZURE_KEY is not set',
  )
  expect(() => readConfig({ AGENTRUN_MODELS: join(folder, 'none') })).toThrow(
    'AGENTRUN_MODELS: must be JSON, or the path of a file',
  )
  expect(() => readConfig({ AGENTRUN_MODELS: '{"a/b": {"context": 1}}' })).toThrow('AGENTRUN_MODELS: a/b')
  expect(() => readConfig({ AGENTRUN_MODELS: '{"a/b": ' })).toThrow('AGENTRUN_MODELS: ')
})

test('a sandbox driver is one of the known ones, whose engine is a socket of this machine', () => {
  expect(readConfig({}).AGENTRUN_SANDBOX).toBe('bubblewrap')
  const given = {
    AGENTRUN_SANDBOX: 'docker',
    AGENTRUN_SANDBOX_ENGINE: 'unix:///run/x.sock',
    AGENTRUN_SANDBOX_IMAGE: 'host:5000/a/b:1',
  }
  expect(readConfig(given)).toMatchObject({
    AGENTRUN_SANDBOX: 'docker',
    AGENTRUN_SANDBOX_ENGINE: '/run/x.sock',
  })
  expect(() => readConfig({ AGENTRUN_SANDBOX: 'none' })).toThrow(
    'AGENTRUN_SANDBOX: must be bubblewrap, docker, podman or kubernetes',
  )
  expect(() => readConfig({ AGENTRUN_SANDBOX_ENGINE: 'tcp://127.0.0.1:2375' })).toThrow(
    'AGENTRUN_SANDBOX_ENGINE: must be the path',
  )
  expect(() => readConfig({ AGENTRUN_SANDBOX_IMAGE: '-x y' })).toThrow('AGENTRUN_SANDBOX_IMAGE')
  expect(() => readConfig({ AGENTRUN_SANDBOX_IMAGE: 'mine:1' })).toThrow(
    'AGENTRUN_SANDBOX_IMAGE: is for containers, and AGENTRUN_SANDBOX',
  )
})

test('a sandbox in a pod needs to know its image by digest, node, claim, profile of system calls and cluster, and the error names the missing ones', () => {
  const given = {
    AGENTRUN_SANDBOX: 'kubernetes',
    AGENTRUN_SANDBOX_IMAGE: `x:1@sha256:${'0'.repeat(64)}`,
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    AGENTRUN_KUBERNETES_NODE: 'node-1.example',
    AGENTRUN_KUBERNETES_CLAIM: 'data',
    AGENTRUN_KUBERNETES_SECCOMP: 'agentrun.json',
  }
  expect(readConfig(given)).toMatchObject({
    AGENTRUN_KUBERNETES_NAMESPACE: 'agentrun-sandboxes',
    KUBERNETES_SERVICE_PORT: 443,
  })
  for (const name of Object.keys(given).filter(name => name !== 'AGENTRUN_SANDBOX'))
    expect(() => readConfig({ ...given, [name]: '' })).toThrow(
      `${name}: AGENTRUN_SANDBOX=kubernetes needs it`,
    )
  const unpinned = { ...given, AGENTRUN_SANDBOX_IMAGE: 'x:1' }
  for (const image of ['x:1', 'x', 'x@sha256:0', 'x@sha256:DIGEST'])
    expect(() => readConfig({ ...given, AGENTRUN_SANDBOX_IMAGE: image })).toThrow(
      'AGENTRUN_SANDBOX_IMAGE: must end in @sha256:',
    )
  expect(readConfig({ ...unpinned, AGENTRUN_KUBERNETES_UNPINNED_IMAGE: '1' })).toMatchObject({
    AGENTRUN_SANDBOX_IMAGE: 'x:1',
  })
  const agents = (settings: object) => ({ ...given, AGENTRUN_AGENTS: JSON.stringify({ opencode: settings }) })
  expect(() => readConfig(agents({ folder: '/srv/agents' }))).toThrow(
    /AGENTRUN_AGENTS: opencode, folder: .* install the agent as \/opt\/agents\/opencode in AGENTRUN_SANDBOX_IMAGE/,
  )
  expect(readConfig(agents({})).AGENTRUN_AGENTS?.get('opencode')).toMatchObject({ folder: null })
  expect(() => readConfig({ AGENTRUN_KUBERNETES_NAMESPACE: 'No/Name' })).toThrow(
    'AGENTRUN_KUBERNETES_NAMESPACE',
  )
  expect(() => readConfig({ AGENTRUN_KUBERNETES_SECCOMP: '../x y' })).toThrow('AGENTRUN_KUBERNETES_SECCOMP')
})

test('a value may come from a file, without its last line break', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'token')
  writeFileSync(file, 'a-token-of-24-characters-or-more\n')
  expect(readConfig({ AGENTRUN_INIT_TOKEN_FILE: file }).AGENTRUN_INIT_TOKEN).toBe(
    'a-token-of-24-characters-or-more',
  )
  expect(() => readConfig({ AGENTRUN_INIT_TOKEN_FILE: '/nowhere' })).toThrow('AGENTRUN_INIT_TOKEN_FILE')
  expect(() =>
    readConfig({ AGENTRUN_INIT_TOKEN_FILE: file, AGENTRUN_INIT_TOKEN: 'b-token-of-24-characters-or-more' }),
  ).toThrow('both')
})

test('a number that is out of its range is refused with the range, and a large one is taken', () => {
  expect(readConfig({ AGENTRUN_RUN_MAX_TOKENS: '2000000000' }).AGENTRUN_RUN_MAX_TOKENS).toBe(2_000_000_000)
  expect(readConfig({ AGENTRUN_SANDBOX_FILES: '3000000000' }).AGENTRUN_SANDBOX_FILES).toBe(3_000_000_000)
  expect(readConfig({ AGENTRUN_TEMPLATE_BYTES: '0' }).AGENTRUN_TEMPLATE_BYTES).toBe(0)
  for (const [name, value, range] of [
    ['AGENTRUN_RUN_MAX_TOKENS', '9000000000000', '1 to 1000000000000'],
    ['AGENTRUN_RUN_MAX_TOKENS', '99999999999999999999', '1 to 1000000000000'],
    ['AGENTRUN_RUN_MAX_STEPS', '2000000000', '1 to 100000'],
    ['AGENTRUN_PORT', '1e3', '0 to 65535'],
    ['AGENTRUN_PUSH_MAX_BYTES', '1000', '100000 to 99999999999999'],
  ] as const)
    expect(() => readConfig({ [name]: value }), name).toThrow(`${name}: must be a whole number from ${range}`)
})

test('a limit is a number of requests in seconds, or off', () => {
  expect(readConfig({ AGENTRUN_LIMIT_AGENT_CREATION: '1000/60' }).AGENTRUN_LIMIT_AGENT_CREATION).toEqual({
    requests: 1000,
    seconds: 60,
  })
  expect(readConfig({ AGENTRUN_LIMIT_AGENT_CREATION: 'off' }).AGENTRUN_LIMIT_AGENT_CREATION).toBeNull()
})

test('the variables of a client in the same shell do not keep the service from starting', () => {
  expect(() =>
    readConfig({ AGENTRUN_TOKEN: 'arun_p_whatever', AGENTRUN_URL: 'http://elsewhere', AGENTRUN_ORG: '1' }),
  ).not.toThrow()
})

test('the key for secrets is 32 bytes, as hexadecimal digits or base64, and an invalid one is not repeated', () => {
  const key = Buffer.alloc(32, 7)
  for (const text of [key.toString('hex'), key.toString('base64')])
    expect(readConfig({ AGENTRUN_SECRET_KEY: text }).AGENTRUN_SECRET_KEY?.equals(key)).toBe(true)
  const read = () => readConfig({ AGENTRUN_SECRET_KEY: 'a-passphrase-of-more-than-32-characters' })
  expect(read).toThrow('AGENTRUN_SECRET_KEY: must be 32 bytes')
  expect(read).not.toThrow(/passphrase/)
})

test('mirrors are registries that a sandbox can be configured with, and the proxy is an http address', () => {
  const read = (value: string) => readConfig({ AGENTRUN_EGRESS_MIRRORS: value }).AGENTRUN_EGRESS_MIRRORS
  const found = read('npm=https://npm.corp.example/, pypi=http://10.0.0.5:8080/simple').map(
    ({ kind, url }) => `${kind} ${url.href}`,
  )
  expect(found).toEqual(['npm https://npm.corp.example/', 'pypi http://10.0.0.5:8080/simple'])
  for (const value of [
    'npm',
    'npm=',
    'cpan=https://a.example',
    'npm=ftp://a.example',
    'npm=https://u:p@a.example',
    'npm=http://localhost:4873',
    'npm=http://127.0.0.1',
  ])
    expect(() => read(value), value).toThrow('AGENTRUN_EGRESS_MIRRORS')
  const proxy = (value: string) => readConfig({ AGENTRUN_EGRESS_PROXY: value }).AGENTRUN_EGRESS_PROXY?.href
  expect(proxy('http://me:word@proxy.corp.example:3128')).toBe('http://me:word@proxy.corp.example:3128/')
  for (const value of ['proxy.corp.example:3128', 'https://proxy.corp.example', 'socks5://a.example'])
    expect(() => proxy(value), value).toThrow('must be an http URL')
})
