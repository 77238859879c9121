import { expect, test } from 'vitest'
import { isManifest } from './dependency-manifests.ts'

test('manifests are known by their names in every folder, scripts by the commands that name them, and other files are none', () => {
  const commands = [
    'bash scripts/prepare.sh --all && ./other.sh',
    'cd web && ./tools/fetch.sh && pip install -r dev/all.txt',
  ]
  const manifests = [
    'package.json',
    'web/pnpm-lock.yaml',
    'requirements-dev.txt',
    'requirements/test.txt',
    'lib/x.gemspec',
    'a/b/Cargo.lock',
    'dev-requirements.txt',
    'patches/left-pad+1.3.0.patch',
    '.yarn/releases/yarn-4.5.0.cjs',
    'web/tools/fetch.sh',
    'web/dev/all.txt',
  ]
  const others = [
    'README.md',
    'src/package.json.ts',
    'notes.txt',
    'my-requirements/x.md',
    'poetry.lock.bak',
    'src/main.go',
    'lib/prepare.sh',
    'scripts/more.sh',
    'web/fetch.sh',
    'docs/patches/README.md',
  ]
  expect(manifests.filter(path => !isManifest(path, commands))).toEqual([])
  expect(others.filter(path => isManifest(path, commands))).toEqual([])
})
