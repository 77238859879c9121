import { expect, test } from 'vitest'
import { manifest, proposed, tested } from '../../../test/runs/setup/proposed-setup.ts'

test('npm: development dependencies may be omitted if the registry does not have them', () => {
  const needing = manifest({ ...tested, dependencies: { '@acme/core': '^3.0.0' } })
  expect(proposed({ 'package.json': needing }).commands).toMatchObject([{ needs: ['@acme/core'] }])
})

test('npm: a lockfile is respected, without one versions are resolved, and without dependencies nothing is installed', () => {
  expect(proposed({ 'package.json': manifest(tested), 'package-lock.json': '{}' })).toMatchObject({
    shown: ['npm ci'],
    proofs: [['test: npm test', 'smoke: npm ls --depth=0']],
    lockfiles: ['package.json', 'package-lock.json'],
  })
  expect(proposed({ 'package.json': manifest(tested) }).shown).toEqual(['npm install --no-audit --no-fund'])
  const alone = proposed({
    'package.json': manifest({ main: 'index.js', scripts: { test: 'node --test' } }),
    'index.js': '',
  })
  expect([alone.shown, alone.proofs[0]?.[0]]).toEqual([[], 'test: npm test'])
  const without = proposed({
    'package.json': manifest({
      main: './lib/a',
      scripts: { test: 'echo "Error: no test specified" && exit 1' },
    }),
    'lib/a.js': '',
  })
  expect(without.proofs).toEqual([[`smoke: node --input-type=module -e 'await import("./lib/a.js")'`]])
})

test('npm: a package without dependencies is installed where an install runs a script of its own', () => {
  const of = (scripts: Record<string, string>) =>
    proposed({ 'package.json': manifest({ scripts: { test: 'node --test', ...scripts } }), 'a.test.js': '' })
      .shown
  expect(of({ build: 'node build.js' })).toEqual([])
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'])
    expect(of({ [name]: 'node build.js' })).toEqual(['npm install --no-audit --no-fund'])
})

test('pnpm and yarn come from the registry by their version, from packageManager or the lockfile', () => {
  const pnpm = (more: Record<string, unknown>, lock: string) =>
    proposed({
      'package.json': manifest({ ...tested, ...more }),
      'pnpm-lock.yaml': lock,
      'pnpm-workspace.yaml': 'packages: [a]',
    })
  expect(pnpm({ packageManager: 'pnpm@9.15.4+sha512.abcdef' }, '')).toMatchObject({
    shown: ['npm install --global pnpm@9.15.4', 'pnpm install --frozen-lockfile'],
    proofs: [['test: pnpm test', 'smoke: pnpm install --frozen-lockfile --offline']],
  })
  expect(pnpm({}, "lockfileVersion: '9.0'\n").shown[0]).toBe('npm install --global pnpm@10')
  expect(pnpm({}, "lockfileVersion: '6.0'\n").shown[0]).toBe('npm install --global pnpm@8')
  const yarn = (files: Record<string, string>, more: Record<string, unknown> = {}) =>
    proposed({ 'package.json': manifest({ ...tested, ...more }), ...files }).shown
  expect(yarn({ 'yarn.lock': '# yarn lockfile v1\n' })).toEqual([
    'npm install --global yarn@1.22.22',
    'yarn install --non-interactive --frozen-lockfile',
  ])
  expect(yarn({ 'yarn.lock': '__metadata:\n  version: 8\n' }, { packageManager: 'yarn@4.5.1' })).toEqual([
    'npm install --global @yarnpkg/cli-dist@4.5.1',
    'yarn install --immutable',
  ])
  const other = proposed(
    { 'package.json': manifest(tested), 'yarn.lock': '', 'README.md': '# Tests\n```\nyarn test:unit\n```\n' },
    [...['npm', 'yarn']],
  )
  expect(other.shown[1]).toBe('~/.local/bin/yarn install --non-interactive --frozen-lockfile')
  expect(other.proofs[0]?.slice(0, 2)).toEqual([
    'test: ~/.local/bin/yarn test:unit',
    'test: ~/.local/bin/yarn test',
  ])
  const inside = proposed({ Dockerfile: '', 'web/package.json': manifest(tested), 'web/pnpm-lock.yaml': '' })
  expect(inside.shown).toEqual(['npm install --global pnpm@10', '(cd web && pnpm install --frozen-lockfile)'])
  const kept = {
    'yarn.lock': '__metadata:\n  version: 6\n',
    '.yarnrc.yml': 'yarnPath: .yarn/releases/yarn-3.6.4.cjs\n',
    '.yarn/releases/yarn-3.6.4.cjs': '',
  }
  expect(yarn(kept)).toEqual(['node .yarn/releases/yarn-3.6.4.cjs install --immutable'])
})

test('Python: beside the packages of the system, with what its tests need; the lockfiles of uv and Poetry by these', () => {
  const pyproject = `[project]\nname = "shop"\ndependencies = ["requests"]\nrequires-python = ">=3.9"\n[project.optional-dependencies]\ntest = ["pytest"]\ndocs = ["sphinx"]\n`
  expect(
    proposed({ 'pyproject.toml': pyproject, 'src/shop/__init__.py': '', 'tests/test_a.py': '' }),
  ).toMatchObject({
    shown: ['python3 -m venv .venv', `.venv/bin/pip install -e '.[test]'`],
    proofs: [
      [
        'test: .venv/bin/python -m pytest',
        `smoke: .venv/bin/python -c 'import shop'`,
        'smoke: .venv/bin/pip check',
      ],
    ],
    offline: { commands: [], to_prove: [{ proofs: [{ command: 'PYTHONPATH=src python3 -m pytest' }, {}] }] },
  })
  const plain = proposed({
    'requirements.txt': 'flask\n',
    'requirements-dev.txt': 'pytest-cov\n',
    'tests/test_a.py': '',
    'conftest.py': '',
  })
  expect(plain.shown).toEqual([
    'python3 -m venv .venv',
    '.venv/bin/pip install -r requirements.txt',
    '.venv/bin/pip install -r requirements-dev.txt',
  ])
  expect(proposed({ 'setup.py': "setup(name='x')", 'x.py': '', 'test_x.py': '' })).toMatchObject({
    shown: [],
    proofs: [['test: python3 -m unittest discover', `smoke: python3 -c 'import x'`]],
  })
  const locked = {
    'pyproject.toml': `${pyproject}[dependency-groups]\ndev = ["pytest"]\n`,
    'uv.lock': '',
    'tests/test_a.py': '',
  }
  expect(proposed(locked, ['python3', 'uv']).shown).toEqual(['uv sync --locked --extra test'])
  expect(proposed(locked)).toMatchObject({
    shown: [
      'python3 -m venv ~/.venvs/uv',
      '~/.venvs/uv/bin/pip install uv',
      '~/.venvs/uv/bin/uv sync --locked --extra test',
    ],
  })
  expect(proposed({ ...locked, 'uv.lock': '', 'AGENTS.md': 'Run `uv run pytest -q`.' }).proofs[0]?.[0]).toBe(
    'test: ~/.venvs/uv/bin/uv run --no-sync pytest -q',
  )
})

test('Go, Rust, Java, Ruby, PHP and C by their manifests; vendored packages are not fetched', () => {
  expect(
    proposed({ 'go.mod': 'module a\n\ngo 1.22\n\nrequire b v1.0.0\n', 'go.sum': '', 'a_test.go': '' }),
  ).toMatchObject({
    shown: ['go mod download'],
    proofs: [['test: go test ./...', 'build: go build ./...', 'build: go vet ./...']],
    tools: [{ binary: 'go', wanted: '1.22', package: 'golang-go' }],
  })
  expect(proposed({ 'go.mod': 'module a\nrequire b v1.0.0\n', 'vendor/modules.txt': '' }).shown).toEqual([])
  expect(proposed({ 'errors.go': '', 'errors_test.go': '', Makefile: 'check: lint\n' }).proofs[0]?.[0]).toBe(
    'test: GO111MODULE=off go test ./...',
  )
  expect(
    proposed({ 'Cargo.toml': '[package]\nname="a"\n[dependencies]\nb="1"\n', 'Cargo.lock': '' }),
  ).toMatchObject({
    shown: ['cargo fetch --locked'],
    proofs: [['test: cargo test --locked', expect.anything(), expect.anything()]],
  })
  expect(
    proposed({ 'pom.xml': '<release>21</release>', mvnw: '', 'src/test/java/ATest.java': '' }),
  ).toMatchObject({
    shown: [expect.stringMatching(/^sh \.\/mvnw -B -ntp test -Dtest=/)],
    proofs: [['test: sh ./mvnw -B -ntp -o test', expect.anything()]],
  })
  const gradle = { 'build.gradle.kts': '', gradlew: '', 'src/test/A.kt': '' }
  const wrapped = proposed({ ...gradle, 'gradle/wrapper/gradle-wrapper.jar': '' }, ['java', 'gradle'])
  expect(wrapped.proofs).toEqual([
    ['test: sh ./gradlew --no-daemon --offline test', 'build: sh ./gradlew --no-daemon --offline assemble'],
  ])
  expect(wrapped.offline?.commands).toMatchObject([{ command: 'gradle --no-daemon --offline testClasses' }])
  expect(proposed(gradle).shown).toEqual(['gradle --no-daemon testClasses'])
  expect(
    proposed({ 'pom.xml': '', 'src/test/java/ATest.java': '' }, ['java', 'mvn', '/usr/share/maven-repo'])
      .offline,
  ).toMatchObject({
    commands: [{ command: 'mvn -B -ntp -o -Dmaven.repo.local=/usr/share/maven-repo test-compile' }],
    to_prove: [{ proofs: [{ command: 'mvn -B -ntp -o -Dmaven.repo.local=/usr/share/maven-repo test' }, {}] }],
  })
  expect(proposed({ 'build.xml': '<project><target depends="a" name="test"/></project>' }).proofs).toEqual([
    ['test: ant test', 'build: ant'],
  ])
  expect(proposed({ Gemfile: '', 'Gemfile.lock': '', 'spec/a_spec.rb': '' })).toMatchObject({
    shown: ['bundle config set --local path vendor/bundle', 'bundle install'],
    proofs: [['test: bundle exec rspec', 'smoke: bundle check']],
  })
  expect(proposed({ 'composer.json': '{"scripts":{"test":"phpunit"}}' })).toMatchObject({
    shown: ['composer install --no-interaction --no-progress'],
    proofs: [['test: composer test', expect.anything(), expect.anything()]],
  })
  const phpunit = { 'phpunit.xml': '', 'src/A.php': '', 'composer.json': '{"require":{"php":">=8"}}' }
  expect(proposed(phpunit).proofs[0]?.[0]).toBe('test: vendor/bin/phpunit')
  expect(proposed(phpunit, ['php', 'composer', 'phpunit'])).toMatchObject({
    proofs: [['test: phpunit', expect.stringMatching(/^smoke: ! find src /), expect.anything()]],
    offline: {
      commands: [{ command: 'composer dump-autoload --no-interaction' }],
      to_prove: [{ proofs: [{ command: 'phpunit' }] }],
    },
  })
  expect(
    proposed({ 'composer.json': '{"require":{"monolog/monolog":"^3"}}', 'src/A.php': '' }, ['php', 'phpunit'])
      .offline,
  ).toBeNull()
  expect(
    proposed({ 'composer.json': '{"require-dev":{"phpunit/phpunit":"^9"}}', 'tests/ATest.php': '' })
      .proofs[0]?.[0],
  ).toBe('test: vendor/bin/phpunit tests')
  expect(proposed({ Makefile: 'all: a\n\ntest: all\n\t./a\n', 'a.c': '' })).toMatchObject({
    shown: ['make'],
    proofs: [['test: make test', 'build: make']],
  })
  expect(proposed({ 'CMakeLists.txt': 'enable_testing()', 'a.cpp': '', 'build/x': '' })).toMatchObject({
    shown: ['cmake -S . -B build-sandbox', 'cmake --build build-sandbox --parallel 2'],
    proofs: [
      [
        'test: ctest --test-dir build-sandbox --output-on-failure --no-tests=error',
        'build: cmake --build build-sandbox',
      ],
    ],
  })
  expect(
    proposed({ 'configure.ac': '', 'autogen.sh': '', 'Makefile.am': 'TESTS = a', 'a.c': '' }).shown,
  ).toEqual(['NOCONFIGURE=1 sh ./autogen.sh', 'sh ./configure', 'make -j2'])
  const released = { configure: '', 'aclocal.m4': '', 'Makefile.am': '', 'Makefile.in': 'check:', 'a.c': '' }
  expect(proposed(released).shown).toEqual([
    expect.stringMatching(/^touch aclocal\.m4 && find /),
    'sh ./configure',
    'make -j2',
  ])
  expect(proposed({ 'meson.build': '', 'a.c': '' }).shown).toEqual([
    'meson setup build',
    'meson compile -C build',
  ])
})

test('a build of C that the rules know is tested by the rules, and a missing folder is not entered', () => {
  const ci =
    'jobs:\n  t:\n    steps:\n      - run: cmake -B x\n      - run: ctest\n        working-directory: x\n      - run: ctest -V\n'
  const found = proposed({ 'CMakeLists.txt': 'enable_testing()', 'a.c': '', '.github/workflows/ci.yml': ci })
  expect(found.proofs).toEqual([
    ['test: ctest --test-dir build --output-on-failure --no-tests=error', 'build: cmake --build build'],
  ])
  const node = {
    'package.json': manifest(tested),
    'AGENTS.md': 'Run `cd gone && npm test` or `cd web && npm test`.',
    'web/a.js': '',
  }
  expect(proposed(node).proofs[0]?.slice(0, 2)).toEqual(['test: (cd web && npm test)', 'test: npm test'])
})

test('Python: what tests are written for is seen in them, and what is compiled is installed also without dependencies', () => {
  const there = ['python3', 'python3:ensurepip', 'python3:pytest']
  const tests = { 'shop.py': '', 'tests/test_a.py': 'import shop\n\ndef test_a():\n    assert shop\n' }
  const setup = (more: string) => ({ 'setup.py': `setup(name='shop'${more})`, ...tests })
  expect(proposed(setup(''), there)).toMatchObject({
    shown: [],
    proofs: [['test: python3 -m pytest', expect.anything()]],
  })
  expect(proposed(setup(''), ['python3', 'python3:ensurepip']).shown).toEqual([
    'python3 -m venv .venv',
    '.venv/bin/pip install -e .',
    '.venv/bin/pip install pytest',
  ])
  expect(proposed(setup(", ext_modules=[Extension('_s', ['s.c'])]"), there)).toMatchObject({
    shown: ['python3 -m venv .venv', '.venv/bin/pip install -e .', '.venv/bin/pip install pytest'],
    offline: {
      commands: [
        { command: 'python3 -m venv --system-site-packages .venv' },
        { command: '.venv/bin/pip install --no-build-isolation --no-deps -e .' },
      ],
      to_prove: [{ proofs: [{ command: '.venv/bin/python -m pytest' }] }],
    },
  })
  expect(
    proposed(
      { 'setup.py': "setup(name='a')", 'a/__init__.py': '', 'a/tests/b_test.py': 'import unittest\n' },
      there,
    ).proofs[0]?.[0],
  ).toBe("test: python3 -m unittest discover -p '*_test.py'")
  const django = { 'requirements.txt': 'Django>=4\n', 'manage.py': '', 'shop/tests.py': '' }
  expect(proposed(django, there)).toMatchObject({
    proofs: [['test: .venv/bin/python manage.py test', expect.anything(), expect.anything()]],
    offline: { to_prove: [{ proofs: [{ command: 'python3 manage.py test' }] }] },
  })
  const locked = { 'pyproject.toml': '[tool.poetry]\nname = "shop"\n', 'poetry.lock': '', ...tests }
  expect(proposed(locked, [...there, 'poetry'])).toMatchObject({
    proofs: [['test: poetry run python -m pytest', expect.anything()]],
    offline: { commands: [], to_prove: [{ proofs: [{ command: 'python3 -m pytest' }, {}] }] },
  })
})

test('Perl: it is built by the output of its Makefile.PL or Build.PL, and without one its tests run directly', () => {
  const there = ['perl', 'make', 'gcc']
  const makefile = {
    'Makefile.PL': "use 5.014;\nuse ExtUtils::MakeMaker;\nWriteMakefile(NAME => 'A::B');\n",
    'lib/A/B.pm': '',
    't/a.t': '',
  }
  expect(proposed(makefile, there)).toMatchObject({
    shown: ['perl Makefile.PL', 'make'],
    proofs: [['test: make test', `smoke: perl -Ilib -e 'require A::B'`]],
    tools: [{ binary: 'perl', wanted: '5.014' }, { binary: 'make' }],
  })
  expect(
    proposed({ 'Build.PL': '', 'lib/A.pm': '', 'lib/A/B.pm': '', 'A.xs': '', 't/b/c.t': '' }, there),
  ).toMatchObject({
    shown: ['perl Build.PL', './Build'],
    proofs: [['test: ./Build test', `smoke: perl -Mblib -e 'require A'`]],
    tools: [{ binary: 'perl' }, { binary: 'gcc' }],
  })
  expect(
    proposed(
      {
        cpanfile: '',
        'lib/A.pm': '',
        't/a.t': '',
        'README.md': '## Build\n```\ncpanm .\nprove -lv t\n```\n',
      },
      there,
    ),
  ).toMatchObject({
    shown: [],
    proofs: [['test: prove -lv t', 'test: prove -l t', `smoke: perl -Ilib -e 'require A'`]],
  })
})

test('tests of Python that are named in capitals are found', () => {
  expect(
    proposed({
      'setup.py': "setup(name='when')",
      'when/__init__.py': '',
      'tests/__init__.py': '',
      'tests/TestSimple.py': '',
    }).proofs,
  ).toEqual([expect.arrayContaining(["test: python3 -m unittest discover -s tests -t . -p '*[Tt]est*.py'"])])
})
