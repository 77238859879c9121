import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { program_env } from '../system/program-env.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { pythonTests } from './python-tests.ts'

const clone = join(import.meta.dirname, '../..')

test('the types of both Python packages are complete and strict', () => {
  using folder = temporaryFolder()
  const args = [
    '-m',
    'mypy',
    '--cache-dir',
    folder.path,
    '--enable-incomplete-feature=Unpack',
    'src',
    '../python-codegen/src',
  ]
  const { status, stdout } = spawnSync('/usr/bin/python3', args, {
    cwd: join(clone, 'clients/python'),
    encoding: 'utf8',
    env: program_env,
  })
  expect(status, stdout).toBe(0)
}, 120_000)

test('both Python packages are built and installed without a network, with their types and the version of the service', () => {
  using folder = temporaryFolder()
  // The build writes beside its sources.
  cpSync(join(clone, 'clients'), folder.path, { recursive: true })
  const target = join(folder.path, 'installed')
  const run = (...args: string[]) =>
    execFileSync('/usr/bin/python3', args, {
      cwd: folder.path,
      encoding: 'utf8',
      env: { ...program_env, HOME: folder.path, PYTHONPATH: target, PIP_ROOT_USER_ACTION: 'ignore' },
    })
  const options = [
    '--quiet',
    '--no-index',
    '--no-build-isolation',
    '--no-deps',
    '--disable-pip-version-check',
    '--target',
    target,
  ]
  run('-m', 'pip', 'install', ...options, './python', './python-codegen')
  for (const name of ['agentrun', 'codegen']) expect(existsSync(join(target, name, 'py.typed'))).toBe(true)
  const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'))
  const program = `import agentrun, codegen, importlib.metadata as m
print(agentrun.__version__, codegen.__version__, m.version("agentrun"), m.version("agentrun-codegen"), agentrun.__file__, codegen.Agent.__module__)`
  expect(run('-c', program)).toBe(
    `${[version, version, version, version].join(' ')} ${target}/agentrun/__init__.py codegen.agents.agent\n`,
  )
}, 120_000)

const runTests = pythonTests()

test('the tests of the Python client pass: faults', () => runTests('test_faults'), 120_000)

test(
  'published code for the Codegen SDK works with the module codegen',
  () => runTests('test_published_code'),
  120_000,
)
