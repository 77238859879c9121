import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { chart, valueFaults } from '../../scripts/render-chart/render-chart.ts'
import { readConfig } from '../../src/config.ts'
import { root } from '../system/small-clone.ts'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const compose = parse(readFileSync(join(root, 'deploy/compose/compose.yaml'), 'utf8'))

test('chart, image and compose file have the version of package.json', () => {
  expect(chart).toMatchObject({ version, appVersion: version })
  expect(compose.services.agentrun.image).toBe(`agentrun:\${IMAGE_VERSION:-${version}}`)
})

test('the service accepts every variable of the compose file in .env, which it gets as a whole', () => {
  const text = readFileSync(join(root, 'deploy/compose/compose.yaml'), 'utf8')
  const names = [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name)
  expect(new Set(names)).toEqual(new Set(['POSTGRES_PASSWORD', 'IMAGE_VERSION']))
  expect(() => readConfig(Object.fromEntries(names.map(name => [name, '1'])))).not.toThrow()
})

test('the values of the chart satisfy their schema, and mistakes are found by name', () => {
  expect(valueFaults({})).toEqual([])
  const mistakes: [values: { [name: string]: unknown }, fault: RegExp][] = [
    [{ replicas: 3 }, /additional properties/],
    [{ serve: { replica: 3 } }, /^\/serve: .*additional properties/],
    [{ baseUrl: 'agents.example.org' }, /^\/baseUrl/],
    [{ baseUrl: 'https://agents.example.org/path' }, /^\/baseUrl/],
    [{ image: { digest: 'sha256:12' } }, /^\/image\/digest/],
    [{ env: { 'lower-case': 'x' } }, /^\/env/],
    [{ env: { AGENTRUN_PORT: 4600 } }, /^\/env\/AGENTRUN_PORT/],
    [{ work: { sandbox: 'docker' } }, /^\/work\/sandbox/],
    // Workers of pods are bound to their nodes.
    [{ work: { autoscaling: { enabled: true } } }, /^\/work\/autoscaling\/enabled/],
    [{ work: { nodes: [] } }, /^\/work\/nodes/],
  ]
  for (const [values, fault] of mistakes)
    expect({ values, faults: valueFaults(values) }).toEqual({
      values,
      faults: expect.arrayContaining([expect.stringMatching(fault)]),
    })
})

test('the compose file waits for a healthy database, keeps both volumes, publishes to loopback only and confines the service', () => {
  const { agentrun, postgres } = compose.services
  expect(agentrun.depends_on.postgres.condition).toBe('service_healthy')
  expect(postgres.image).toBe('postgres:18')
  expect([agentrun.volumes, postgres.volumes]).toEqual([['data:/data'], ['postgres:/var/lib/postgresql']])
  expect(Object.keys(compose.volumes).sort()).toEqual(['data', 'postgres'])
  expect(agentrun.ports).toEqual(['127.0.0.1:4600:4600'])
  expect(postgres.ports).toBeUndefined()
  expect(agentrun).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: expect.arrayContaining(['no-new-privileges:true']),
  })
  expect(compose.networks.database).toEqual({ internal: true })
})

test('every variable of the example file is one of the service or of the compose file', () => {
  const example = readFileSync(join(root, 'deploy/compose/.env.example'), 'utf8')
  const names = [...example.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map(([, name = '']) => name)
  expect(names).toContain('AGENTRUN_SECRET_KEY')
  const own = names.filter(
    name => !['COMPOSE_PROJECT_NAME', 'POSTGRES_PASSWORD', 'IMAGE_VERSION'].includes(name),
  )
  const values: Record<string, string> = {
    AGENTRUN_SECRET_KEY: 'ab'.repeat(32),
    AGENTRUN_BASE_URL: 'http://127.0.0.1:4600',
  }
  expect(Object.keys(readConfig(Object.fromEntries(own.map(name => [name, values[name] ?? 'x']))))).toEqual(
    expect.arrayContaining(own),
  )
})

test('the unit starts what the install script installs, as a user without capabilities, and leaves sandboxes their namespaces', () => {
  const unit = readFileSync(join(root, 'deploy/systemd/agentrun.service'), 'utf8')
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]
  const script = readFileSync(join(root, 'deploy/systemd/install.sh'), 'utf8')
  const [, folder, data, settings, user] =
    /^folder=(\S+) data=(\S+) settings=(\S+) user=(\S+)$/m.exec(script) ?? []
  expect(setting('ExecStart')).toBe(`${folder}/node_modules/.bin/agentrun-server --data ${data}`)
  expect([setting('User'), setting('EnvironmentFile'), `/var/lib/${setting('StateDirectory')}`]).toEqual([
    user,
    settings,
    data,
  ])
  expect({
    set: setting('CapabilityBoundingSet'),
    gain: setting('NoNewPrivileges'),
    system: setting('ProtectSystem'),
  }).toEqual({
    set: '',
    gain: 'yes',
    system: 'strict',
  })
  // Each of them would make the kernel refuse the namespaces, the /proc or the host name of a sandbox, or the
  // mode of a mirror.
  for (const name of [
    'RestrictNamespaces',
    'ProtectKernelTunables',
    'ProtectKernelLogs',
    'ProtectControlGroups',
    'ProtectProc',
    'PrivateUsers',
    'ProtectHostname',
    'RestrictSUIDSGID',
  ])
    expect(setting(name), name).toBeUndefined()
})
