import { expect, test } from 'vitest'
import type { Step, ToProve } from '../proposal.ts'
import { explain, lacksSomething, whyRed } from './failures.ts'
import { repairCommand, repairForProof } from './repair.ts'

const step = (command: string, optional = false): Step => ({
  command,
  from: 'package.json',
  why: 'because',
  optional,
})
const failed = (output: string, exit_code = 1) => ({ output, exit_code, timed_out: false })
const repaired = (command: string, output: string, line = command) => {
  const repair = repairCommand(
    [step('before'), step(command), step('after')],
    1,
    line,
    failed(output),
    new Set(),
  )
  return repair?.commands.slice(1, -1).map(one => one.command) ?? null
}

test('the error of a package manager leads to the command that avoids it', () => {
  expect(
    repaired(
      'npm ci',
      'npm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.',
    ),
  ).toEqual(['npm install --no-audit --no-fund'])
  expect(repaired('npm ci', 'npm error code ERESOLVE\nnpm error ERESOLVE could not resolve')).toEqual([
    'npm ci --legacy-peer-deps',
  ])
  expect(
    repaired(
      'npm ci',
      'npm error code 1\nnpm error path /workspace/node_modules/x\nnpm error command failed\nnpm error command sh -c node-gyp rebuild',
    ),
  ).toEqual(['npm ci --ignore-scripts'])
  expect(repaired('pnpm install --frozen-lockfile', 'ERR_PNPM_OUTDATED_LOCKFILE  Cannot install')).toEqual([
    'pnpm install --no-frozen-lockfile',
  ])
  expect(
    repaired(
      'yarn install --non-interactive',
      'error Error: self-signed certificate in certificate chain',
    )?.[0],
  ).toMatch(/^test -n .* yarn\.lock && yarn install --non-interactive && git checkout -- yarn\.lock$/)
  expect(repaired('(cd web && npm ci)', 'ERESOLVE', 'npm ci')).toEqual([
    '(cd web && npm ci --legacy-peer-deps)',
  ])
  expect(repaired('pip install -r requirements.txt', 'error: externally-managed-environment')).toEqual([
    'python3 -m venv .venv',
    '.venv/bin/pip install -r requirements.txt',
  ])
  expect(repaired('.venv/bin/pip install --group dev', 'no such option: --group')).toEqual([
    '.venv/bin/pip install --upgrade pip',
    '.venv/bin/pip install --group dev',
  ])
  expect(
    repaired('cmake -S . -B build', 'Compatibility with CMake < 3.5 has been removed from CMake.'),
  ).toEqual(['cmake -S . -B build -DCMAKE_POLICY_VERSION_MINIMUM=3.5'])
  expect(repaired('make', 'set TARGET\nmake: *** [Makefile:2: all] Error 2')).toEqual([])
  expect(repaired('make', 'make: *** [Makefile:2: main.o] Error 1')).toBeNull()
  expect(repaired('make', 'make: *** [Makefile:2: all] Error 127')).toBeNull()
  const absent = (name: string) => `npm error notarget No matching version found for ${name}@^1.0.0.`
  const without =
    "npm pkg delete 'devDependencies[@a/b]' && npm install --no-audit && git checkout -- package.json"
  expect(repaired('npm install --no-audit', absent('@a/b'))).toEqual([without])
  const needed = { ...step('npm install --no-audit'), needs: ['@a/b'] }
  expect(repairCommand([needed], 0, needed.command, failed(absent('@a/b')), new Set())).toBeNull()
  expect(repaired(without, absent('c'), 'npm install --no-audit')).toEqual([
    without.replace("]'", "]' 'devDependencies[c]'"),
  ])
  expect(repaired(without, absent('@a/b'), 'npm install --no-audit')).toBeNull()
  expect(repaired('npm ci', 'npm error code E404')).toBeNull()
  const extra = ".venv/bin/pip install -e '.[dev]'"
  expect(repaired(extra, "WARNING: shop 1.0 does not provide the extra 'dev'")).toEqual([
    '.venv/bin/pip install -e .',
  ])
  expect(
    repaired(extra, 'No matching distribution found for flake8; extra == "dev" (from versions: none)'),
  ).toBeNull()
})

test('tests that lack build output get it, also where Yarn resolves files in its own way', () => {
  const proofs: ToProve['proofs'] = ['yarn test', 'yarn run build'].map((command, i) => ({
    command,
    from: 'package.json',
    why: '',
    kind: i === 0 ? 'test' : 'build',
  }))
  const repair = (output: string) =>
    repairForProof(
      [step('yarn install')],
      { ecosystem: 'node', folder: '', proofs },
      'yarn test',
      failed(output),
      new Set(),
    )
  expect(
    repair('Source path: /workspace/dist/add.js\nNot found: /workspace/dist/add.js')?.commands[1]?.command,
  ).toBe('yarn run build')
  expect(repair('AssertionError: 1 == 2')).toBeNull()
})

test('the same rule is applied to the same command once, and a step that is only mentioned is left out', () => {
  const commands = [step('npm ci')]
  expect(
    repairCommand(commands, 0, 'npm ci', failed('ERESOLVE'), new Set(['peer_dependencies npm ci'])),
  ).toBeNull()
  expect(
    repairCommand([step('npm ci'), step('make docs', true)], 1, 'make docs', failed('no'), new Set()),
  ).toMatchObject({
    id: 'left_out',
    commands: [{ command: 'npm ci' }],
  })
})

test('dependencies that a proof misses are built or installed, but not merely because an output names them', () => {
  const node: ToProve = {
    ecosystem: 'node',
    folder: '',
    proofs: [
      { ...step('npm test'), kind: 'test' },
      { ...step('npm run build'), kind: 'build' },
    ],
  }
  const forProof = (to_prove: ToProve, proof: string, output: string, made: string[] = []) =>
    repairForProof([step('x')], to_prove, proof, failed(output), new Set(made))
      ?.commands.slice(1)
      .map(one => one.command) ?? null
  expect(forProof(node, 'npm test', "Error: Cannot find module './dist/index.js'")).toEqual(['npm run build'])
  expect(forProof(node, 'npm test', "Error: Cannot find module './dist/index.js'", ['build'])).toBeNull()
  expect(forProof(node, 'npm test', 'AssertionError: 1 == 2')).toBeNull()
  const python: ToProve = { ecosystem: 'python', folder: '', proofs: [] }
  expect(forProof(python, 'python3 -m pytest', "ModuleNotFoundError: No module named 'yaml'")).toEqual([
    'python3 -m venv --system-site-packages .venv',
    '.venv/bin/pip install PyYAML',
  ])
  expect(
    forProof(python, 'python3 -m pytest', "ModuleNotFoundError: No module named 'left_pad_evil'"),
  ).toBeNull()
  expect(
    forProof(python, 'python3 -m pytest', 'PackageNotFoundError: No package metadata was found for shop'),
  ).toEqual(['python3 -m venv --system-site-packages .venv', '.venv/bin/pip install -e .'])
  const locked = (command: string) =>
    repairForProof([step(command)], python, 'x', failed('No module named pytest'), new Set())?.commands.at(-1)
      ?.command
  expect(locked('POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction')).toBe(
    'poetry run pip install pytest',
  )
  expect(locked('~/.venvs/uv/bin/uv sync --locked')).toBe('~/.venvs/uv/bin/uv pip install pytest')
})

test('dependencies outside of the repository are named', () => {
  const of = (output: string, exit_code = 1) => explain(failed(output, exit_code))
  expect(
    of('npm error network request to https://r/ failed, reason: connect ECONNREFUSED 127.0.0.1:3128'),
  ).toMatchObject({
    reason: 'registry_unreachable',
    detail: expect.stringContaining('ECONNREFUSED'),
  })
  expect(of('npm error notarget No matching version found for cbor2@^2.4.0.')).toEqual({
    reason: 'registry_unreachable',
    detail: 'The registry does not have cbor2@^2.4.0.',
  })
  expect(
    of("npm error code E404\nnpm error 404  The requested resource '@acme/core@^3.1.0' could not be found")
      ?.detail,
  ).toMatch(/^The registry does not have @acme\/core@\^3\.1\.0\. If it is private/)
  expect(of('bash: line 1: cargo: command not found', 127)).toEqual({
    reason: 'toolchain_missing',
    detail: 'The program cargo is not there. Debian has it in cargo.',
  })
  expect(
    of(
      '➤ YN0081: │ ms@npm:2.1.3: Unsafe http requests must be explicitly whitelisted in your configuration (r)',
    )?.reason,
  ).toBe('registry_unreachable')
  expect(of('sh: 1: tsc: not found', 127)).toMatchObject({ detail: 'The program tsc is not there.' })
  expect(of('go: go.mod requires go >= 1.24 (running go 1.19)')).toMatchObject({
    reason: 'toolchain_missing',
    detail: 'Go 1.24 or newer is needed.',
  })
  expect(of('a.c:1:10: fatal error: zlib.h: No such file or directory')).toMatchObject({
    detail: 'The header zlib.h of a library is not there. Debian has it in zlib1g-dev.',
  })
  expect(explain({ output: '', exit_code: null, timed_out: true })).toMatchObject({ reason: 'time_over' })
  expect(
    of('Exception in thread "main" java.nio.file.NoSuchFileException: /usr/share/maven/bin/m2.conf'),
  ).toMatchObject({
    reason: 'toolchain_missing',
  })
  expect(of('/workspace/build-aux/missing: line 81: help2man: command not found')).toMatchObject({
    detail: 'The program help2man is not there. Debian has it in help2man.',
  })
  expect(of('The iconv OR mbstring extension is required and both are missing.')).toMatchObject({
    detail: 'PHP has no extension iconv here. Debian has it in php-common.',
  })
  expect(of("E   ModuleNotFoundError: No module named 'a'")).toBeNull()
  expect(of('1 test failed')).toBeNull()
})

test('what builds of C, Perl, Go and Java miss is named with what Debian calls it, and what they can do without is not', () => {
  const of = (output: string) => explain(failed(output))?.detail ?? null
  expect(of('meson.build:73:0: ERROR: Dependency "libcap" not found, tried pkgconfig and cmake')).toBe(
    'The library libcap is not there. Debian has it in libcap-dev.',
  )
  expect(of("meson.build:95:2: ERROR: Program 'kyua' not found or not executable")).toBe(
    'The program kyua is not there. Debian has it in kyua.',
  )
  expect(of('configure: error: libevent Not Found')).toBe(
    'configure says: libevent Not Found. Debian has it in libevent-dev.',
  )
  expect(of('configure: error: libevent not found')).toBe(
    'configure says: libevent not found. Debian has it in libevent-dev.',
  )
  expect(of('configure.ac:7: error: possibly undefined macro: AX_CHECK_COMPILE_FLAG')).toContain(
    'Debian has it in autoconf-archive.',
  )
  const left =
    "./configure: line 41: syntax error near `-Wall,'\n./configure: line 41: `AX_CHECK_COMPILE_FLAG(-Wall,'"
  expect(of(left)).toContain('AX_CHECK_COMPILE_FLAG, which is not there. Debian has it in autoconf-archive.')
  expect(of('./configure: line 41: PKG_CHECK_MODULES: command not found')).toContain(
    'Debian has it in pkgconf.',
  )
  expect(
    of(
      "ERROR: Dependency lookup for zlib with method 'pkgconfig' failed: Invalid version, need 'zlib' ['>=9'] found '1.2'.",
    ),
  ).toBe("Another version of a library is needed: 'zlib' ['>=9'] found '1.2'.")
  expect(of('CMake Error at F.cmake:230 (message):\n  Could NOT find ZLIB (missing: ZLIB_LIBRARY)')).toBe(
    'CMake does not find ZLIB. Debian has it in zlib1g-dev.',
  )
  expect(of('-- Could NOT find Doxygen (missing: DOXYGEN_EXECUTABLE)\na.c:1: error: expected ;')).toBeNull()
  expect(
    of(
      "Can't locate Class/Method/Modifiers.pm in @INC (you may need to install the Class::Method::Modifiers module)",
    ),
  ).toBe(
    'The Perl module Class::Method::Modifiers is not there: in Debian it is usually in libclass-method-modifiers-perl.',
  )
  expect(
    of(
      "ProxyError('502 Bad Gateway (the name pypi.org cannot be resolved)')\nERROR: No matching distribution found for a==3 (x)",
    ),
  ).toBe('pypi.org cannot be reached: its name cannot be resolved here. The requirement was a==3.')
  expect(
    of(
      'ERROR: Could not find a version (from versions: none)\nERROR: No matching distribution found for acme-core==3',
    ),
  ).toMatch(
    /^The registry does not have acme-core==3\. If it is private, the setup needs its registry in PIP_EXTRA_INDEX_URL/,
  )
  expect(
    of('HTTP error 500 while getting http://r/a.whl\nERROR: No matching distribution found for a==3'),
  ).toMatch(/^HTTP error 500/)
  expect(
    of(
      `[ERROR] Plugin a:b:1 or one of its dependencies ${'x'.repeat(600)} (the name repo.example.org cannot be resolved)`,
    ),
  ).toBe('repo.example.org cannot be reached: its name cannot be resolved here. The requirement was a:b:1.')
  expect(of("> Could not find method enableFeaturePreview() for arguments [X] on settings 'a'")).toContain(
    'another version of Gradle',
  )
  expect(
    explain(
      failed(
        'go: golang.org/x/mod@v0.6.0: Get "https://p/": Bad Gateway (the name proxy.golang.org cannot be resolved)',
      ),
    )?.reason,
  ).toBe('registry_unreachable')
})

test('the reason why tests fail by themselves is reported where their output contains it', () => {
  expect(whyRed(failed('Warning: Could not find any test files matching pattern: tests.js'))).toBe(
    'the commit has no files of such tests',
  )
  expect(whyRed(failed('not ok 1 - no tests specified\n  ---'))).toBe('the commit has no files of such tests')
  expect(whyRed(failed('TypeError: fetch failed'))).toBe('it needs the network, which checks do not have')
  expect(whyRed(failed('sh: 1: nub: not found', 127))).toBe('The program nub is not there')
  expect(whyRed({ output: '', exit_code: null, timed_out: true })).toBe('not done in its time')
  expect(whyRed(failed('AssertionError: 1 == 2'))).toBeNull()
})

test('failing tests are distinguished from tests that lack something', () => {
  expect(lacksSomething(failed("Error: Cannot find module 'mocha'"))).toBe(true)
  expect(lacksSomething(failed("Error: Cannot find module './lib/missing'"))).toBe(false)
  expect(lacksSomething(failed('sh: 1: nyc: not found', 127))).toBe(true)
  expect(lacksSomething(failed('AssertionError [ERR_ASSERTION]: 1 == 2'))).toBe(false)
})

test('a long line without end is processed in negligible time', () => {
  expect(lacksSomething(failed('a'.repeat(1_000_000)))).toBe(false)
  expect(repaired('npm ci', `npm error path ${'ENOENT '.repeat(50_000)}`)).toBeNull()
})
