import { expect, test } from 'vitest'
import { egressEnvironment, withWayOut } from './environment.ts'

test('builds of Java are told of the way out too, and keep the options that somebody has set for them', () => {
  const way_out = egressEnvironment([])
  const proxied = '-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128'
  expect(way_out).toMatchObject({ MAVEN_OPTS: proxied, GRADLE_OPTS: proxied })
  expect(withWayOut({ MAVEN_OPTS: '-Xmx512m', http_proxy: 'mine', a: 'b' }, way_out)).toEqual({
    ...way_out,
    ...{ a: 'b', MAVEN_OPTS: `${proxied} -Xmx512m` },
  })
})
