import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { decide } from './decide-request.ts'
import { default_caps, type ProxyConfiguration } from './proxy-configuration.ts'
import { EVERY_HOST } from './rules.ts'

const configuration = (address: string): ProxyConfiguration => ({
  rules: async () => [EVERY_HOST],
  resolve: async () => [address],
  allow_private: false,
  upstream: null,
  gateway: null,
  caps: default_caps,
  onRequestText: () => undefined,
  onRefused: () => undefined,
})
const to = (host: string, port: number, address: string, method = 'CONNECT') =>
  decide(configuration(address), { host, port, address: false }, method)

test("a registry may be a copy in this network by the registry's own name, over TLS and nowhere else", async () => {
  expect(await to('registry.npmjs.org', 443, '10.1.2.3')).toMatchObject({
    ok: true,
    to: { way: { addresses: ['10.1.2.3'] } },
  })
  expect(await to('pypi.org', 443, '203.0.113.9')).toMatchObject({ ok: true })
  // Only in a tunnel, which has to greet it by TLS.
  expect(await to('registry.npmjs.org', 443, '10.1.2.3', 'GET')).toMatchObject({
    ok: false,
    reason: 'private_address',
  })
  const own = Object.values(networkInterfaces()).flatMap(all => all?.map(({ address }) => address) ?? [])
  for (const [host, port, address] of [
    ['registry.npmjs.org', 80, '10.1.2.3'],
    ['registry.npmjs.org.evil.example', 443, '10.1.2.3'],
    ['npm.example', 443, '10.1.2.3'],
    // This machine, and the metadata service of a cloud, are not registries.
    ...[
      ...own,
      '127.0.0.1',
      '0.0.0.0',
      '::1',
      '::ffff:127.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '169.254.169.254',
      'fd00:ec2::254',
    ].map(address => ['registry.npmjs.org', 443, address] as const),
  ] as const)
    expect(await to(host, port, address), `${host}:${port} at ${address}`).toMatchObject({
      ok: false,
      reason: 'private_address',
    })
})
