import { expect, test } from 'vitest'
import {
  agentVariables,
  hostEnvironment,
  proxyEnvironment,
  setupVariables,
  UNATTENDED,
} from './sandbox-environment.ts'

test('package managers get proxy and mirrors by the variables that each of them reads', () => {
  const npm = (url: string) => proxyEnvironment([{ kind: 'npm', url: new URL(url) }])
  expect(npm('https://npm.corp.example/all/')).toMatchObject({
    https_proxy: 'http://127.0.0.1:3128',
    YARN_HTTPS_PROXY: 'http://127.0.0.1:3128',
    npm_config_registry: 'https://npm.corp.example/all/',
    YARN_NPM_REGISTRY_SERVER: 'https://npm.corp.example/all',
  })
  // Yarn refuses a registry in the clear unless its name is listed.
  expect(npm('http://npm.corp.example:4873/')).toMatchObject({
    YARN_UNSAFE_HTTP_WHITELIST: 'npm.corp.example',
  })
  expect(Object.keys(npm('https://npm.corp.example/'))).not.toContain('YARN_UNSAFE_HTTP_WHITELIST')
  const pypi = proxyEnvironment([{ kind: 'pypi', url: new URL('http://pypi.corp.example/simple') }])
  expect(pypi).toMatchObject({
    PIP_INDEX_URL: 'http://pypi.corp.example/simple',
    PIP_TRUSTED_HOST: 'pypi.corp.example',
  })
})

test('Node finds the proxy by a variable of its own, and NODE_OPTIONS is left to the project', () => {
  expect(proxyEnvironment([])).toMatchObject({ http_proxy: 'http://127.0.0.1:3128', NODE_USE_ENV_PROXY: '1' })
  expect(Object.keys({ ...proxyEnvironment([]), ...hostEnvironment(true) })).not.toContain('NODE_OPTIONS')
})

test('CI is set for checks and setup commands only, and like NODE_OPTIONS anybody may set it', () => {
  expect(Object.keys(hostEnvironment(true))).not.toContain('CI')
  expect(UNATTENDED).toEqual({ CI: 'true' })
  const secret = (name: string, value: string) => ({ name, value, repository_id: null, for_agent: true })
  const secrets = [
    secret('CI', '1'),
    secret('NODE_OPTIONS', '--stack-trace-limit=5'),
    secret('LD_PRELOAD', '/a.so'),
  ]
  expect(agentVariables(secrets)).toEqual({ CI: '1', NODE_OPTIONS: '--stack-trace-limit=5' })
  expect(setupVariables([...secrets, secret('SHORT', 'x')])).toEqual({
    CI: '1',
    NODE_OPTIONS: '--stack-trace-limit=5',
  })
})
