import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isInstalled } from '../sandbox/containers/start-engine.ts'
import { root } from '../system/small-clone.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { compose } from './start-compose.ts'

test.skipIf(compose === undefined)(
  'the compose file satisfies the schema of Compose, also of version 1 in Debian 12',
  () => {
    using folder = temporaryFolder()
    copyFileSync(join(root, 'deploy/compose/.env.example'), join(folder.path, '.env'))
    const text = readFileSync(join(root, 'deploy/compose/compose.yaml'), 'utf8')
    const check = (content: string) => {
      writeFileSync(join(folder.path, 'compose.yaml'), content)
      const [program = '', ...args] = compose ?? []
      return spawnSync(program, [...args, 'config', '--quiet'], { cwd: folder.path, encoding: 'utf8' })
    }
    expect(check(text)).toMatchObject({ status: 0, stderr: '' })
    expect(check(text.replace('read_only:', 'readonly:')).stderr).toMatch(/readonly/)
    expect(check(text.replace(/^ {4}healthcheck:/m, '    health_check:')).status).not.toBe(0)
  },
)

test.skipIf(!isInstalled('shellcheck'))(
  'shellcheck has no warning about the scripts that are shipped',
  () => {
    const scripts = [
      '.ci/run',
      'actions/run-agent/run-agent.sh',
      'agentrun',
      'deploy/systemd/install.sh',
      'supervisor.sh',
    ]
    const paths = [...scripts, 'scripts/server-package/agentrun-server'].map(path => join(root, path))
    expect(spawnSync('shellcheck', ['--severity=warning', ...paths], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: '',
    })
  },
)

test.skipIf(!isInstalled('systemd-analyze'))(
  'systemd knows every setting of the unit, and finds it well confined',
  () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'agentrun.service')
    const text = readFileSync(join(root, 'deploy/systemd/agentrun.service'), 'utf8')
    const verify = (content: string) => {
      writeFileSync(path, content.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
      return spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' }).stderr
    }
    expect(verify(text.replace('NoNewPrivileges=', 'NoNewPrivilege='))).toContain('Unknown key')
    expect(verify(text)).toBe('')
    // Of 100; what sandboxes need keeps it from less.
    execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=40', path])
  },
)

/** Those of hadolint's rules that concern these files; Debian 12 has no package of it. */
const rules: { name: string; broken: (instruction: string) => boolean }[] = [
  { name: 'DL3004: no sudo', broken: line => /^RUN .*\bsudo\b/.test(line) },
  { name: 'DL3020: COPY instead of ADD', broken: line => /^ADD /.test(line) },
  { name: 'DL3025: JSON for CMD and ENTRYPOINT', broken: line => /^(CMD|ENTRYPOINT) +[^[]/.test(line) },
  { name: 'DL3027: apt-get instead of apt', broken: line => /\bapt (install|update|upgrade)\b/.test(line) },
  {
    name: 'DL3009: package lists are removed',
    broken: line => /apt-get update/.test(line) && !/rm -rf [^&]*\/var\/lib\/apt\/lists/.test(line),
  },
  {
    name: 'DL3014, DL3015: -y --no-install-recommends',
    broken: line => (line.match(/apt-get install(?! -y --no-install-recommends)/) ?? []).length > 0,
  },
  {
    name: 'DL3003: WORKDIR instead of cd',
    broken: line => /^RUN cd /.test(line) && !/^RUN cd \/opt\/agentrun /.test(line),
  },
  {
    name: 'DL3006: a base with a tag',
    broken: line => /^ARG (BUILD_)?BASE=[^:]+$/.test(line) || /^FROM [a-z/]+( |$)/.test(line),
  },
  {
    name: 'DL4006: no pipe of a shell without pipefail',
    broken: line => /^RUN (?!.*pipefail).* \| /.test(line),
  },
]

test('the Dockerfiles keep the rules of hadolint that concern them, and the user of the service is not root', () => {
  for (const path of ['deploy/Dockerfile', 'deploy/sandbox/Dockerfile']) {
    const instructions = readFileSync(join(root, path), 'utf8')
      .replace(/^#.*\n/gm, '')
      .replace(/\\\n\s*/g, '')
      .split('\n')
      .filter(line => line !== '')
    expect(
      rules.flatMap(({ name, broken }) =>
        instructions.filter(broken).map(line => `${path}: ${name}: ${line}`),
      ),
    ).toEqual([])
  }
  expect(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8').match(/^USER .*/gm)).toEqual([
    'USER 10001:10001',
  ])
})
