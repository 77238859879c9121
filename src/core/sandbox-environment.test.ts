import { expect, test } from 'vitest'
import { proxyEnvironment } from './sandbox-environment.ts'

test('package managers get proxy and mirrors by the variables that each of them reads', () => {
  const npm = (url: string) => proxyEnvironment([{ kind: 'npm', url: new URL(url) }])
  expect(npm('https://npm.corp.example/all/')).toMatchObject({
    ...{ https_proxy: 'http://127.0.0.1:3128', YARN_HTTPS_PROXY: 'http://127.0.0.1:3128' },
    ...{ npm_config_registry: 'https://npm.corp.example/all/', YARN_NPM_REGISTRY_SERVER: 'https://npm.corp.example/all' },
  })
  // Yarn refuses a registry in the clear unless its name is listed.
  expect(npm('http://npm.corp.example:4873/')).toMatchObject({ YARN_UNSAFE_HTTP_WHITELIST: 'npm.corp.example' })
  expect(Object.keys(npm('https://npm.corp.example/'))).not.toContain('YARN_UNSAFE_HTTP_WHITELIST')
  const pypi = proxyEnvironment([{ kind: 'pypi', url: new URL('http://pypi.corp.example/simple') }])
  expect(pypi).toMatchObject({ PIP_INDEX_URL: 'http://pypi.corp.example/simple', PIP_TRUSTED_HOST: 'pypi.corp.example' })
})

test('without network access the proxy is set too, so that attempts are reported', () => {
  const closed = proxyEnvironment([], false)
  expect(closed).toMatchObject({ http_proxy: 'http://127.0.0.1:3128', NODE_OPTIONS: '--require=/run/init/fetch.cjs' })
  expect(Object.keys(closed)).not.toContain('NODE_USE_ENV_PROXY')
})
