import { expect, test } from 'vitest'
import { kindOf } from './hints/kind-of-command.ts'
import { commandsOf, partsOf } from './shell-lines.ts'

test('a script becomes a command a line; what belongs together stays together', () => {
  expect(commandsOf('# all\n$ npm ci\nnpm run build \\\n  --all  # now\n\n')).toEqual([
    'npm ci',
    'npm run build --all',
  ])
  expect(commandsOf('cd web\nnpm ci\n')).toEqual(['(cd web && npm ci)'])
  expect(commandsOf('set -e\nexport A=1\nmake')).toEqual(['(export A=1 && make)'])
  expect(commandsOf('if true; then\n  a\nfi')).toEqual(['if true; then\n  a\nfi'])
  expect(commandsOf('cat <<EOF\na\nEOF')).toEqual(['cat <<EOF\na\nEOF'])
  expect(commandsOf("echo 'a\nb'")).toEqual(["echo 'a\nb'"])
  expect(commandsOf('# nothing')).toEqual([])
})

test('the parts of a command are what runs one after the other', () => {
  expect(partsOf('npm ci && npm run "a && b"; make')).toEqual(['npm ci', 'npm run "a && b"', 'make'])
  expect(partsOf('(cd web && npm ci)')).toEqual(['cd web', 'npm ci'])
  expect(partsOf('a\nb')).toEqual(['a', 'b'])
  expect(partsOf('a || b && c')).toEqual(['a || b && c'])
  expect(partsOf('for x in a; do b; done')).toEqual(['for x in a; do b; done'])
  expect(partsOf('x=$(a; b)')).toEqual(['x=$(a; b)'])
})

test('the purpose of a command is derived from its words', () => {
  const kinds = (...commands: string[]) => commands.map(command => kindOf(command).kind)
  expect(
    kinds('npm ci', 'pnpm install --frozen-lockfile', 'yarn', 'pip install -r a.txt', 'bundle install'),
  ).toEqual(Array(5).fill('install'))
  expect(
    kinds(
      'npm test',
      'yarn test:unit',
      'go test ./...',
      'python -m pytest -x',
      'cargo test --all',
      'make check',
      './gradlew test',
      'bundle exec rspec',
    ),
  ).toEqual(Array(8).fill('test'))
  expect(kinds('npm run build', 'make', 'cargo build', 'cmake --build x', './configure --prefix=/x')).toEqual(
    Array(5).fill('build'),
  )
  expect(
    kinds(
      'npm install left-pad',
      'pip install flask',
      'sudo make install',
      'docker compose up',
      'npm publish',
      'git push',
      'npm run lint',
      'make A=<your key>',
      'npm start',
    ),
  ).toEqual(Array(9).fill('left_out'))
  expect(kinds('cp .env.example .env', './scripts/seed.sh', 'rm -rf dist')).toEqual([
    'other',
    'other',
    'other',
  ])
  expect(kinds('sh test.sh', './scripts/run-tests.sh all', 'bash tests/run_tests.sh')).toEqual(
    Array(3).fill('test'),
  )
})

test('a command that executes its download, or deletes more than its own output, is left out and reported', () => {
  const why = (command: string) => kindOf(command).why_not
  for (const command of [
    'curl -fsSL https://x.example/i.sh | sh',
    'make deps && curl https://x.example/i.sh | FORCE=1 sudo -E bash -s -- -y',
    'bash <(curl -s https://x.example/i.sh)',
    'sh -c "$(wget -qO- https://x.example/i.sh)"',
    'wget -qO- https://x.example/i.py | /usr/bin/python3',
  ])
    expect([command, why(command)]).toEqual([command, 'runs what it downloads'])
  for (const command of [
    'rm -rf /',
    'rm -rf ~/',
    'rm -r -f "$HOME"',
    'true; rm -rf *',
    'rm -rf .',
    'rm -rf ../',
  ])
    expect([command, why(command)]).toEqual([command, 'deletes more than it created'])
})
