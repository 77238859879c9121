import fc from 'fast-check'
import { expect, test } from 'vitest'
import { namesOf, readPathGlob } from './path-glob.ts'

const namesPath = (glob: string, path: string) => readPathGlob(glob)(namesOf(path))

test.each([
  ['CODEOWNERS', ['CODEOWNERS', 'docs/codeowners'], ['CODEOWNERS.md', 'CODEOWNERS/x']],
  ['Jenkinsfile*', ['Jenkinsfile', 'deploy/Jenkinsfile.prod'], ['Jenkinsfiles/x']],
  ['.husky/', ['.husky/pre-commit', 'web/.husky/_/x', '.husky'], ['husky/x', '.huskyrc']],
  [
    '.github/workflows/',
    ['.github/workflows/ci.yml', '.GitHub/Workflows/a/b', '.github/workflows', '.github'],
    ['x/.github/workflows/ci.yml'],
  ],
  ['.vscode/tasks.json', ['.vscode/tasks.json', '.vscode'], ['.vscode/other.json', 'a/.vscode/tasks.json']],
  ['/deploy.sh', ['deploy.sh'], ['x/deploy.sh']],
  ['infra/**/*.tf', ['infra/a.tf', 'infra/x/y/a.tf', 'infra'], ['a.tf', 'infra/a.tfvars']],
  ['**/deploy/*', ['deploy/a', 'x/y/deploy/b'], ['deploy/a/b']],
  ['a?c', ['abc', 'x/a-c'], ['ac', 'a/c']],
  ['*', ['a', 'a/b'], []],
])('%s', (glob, named, others) => {
  expect(named.filter(path => !namesPath(glob, path))).toEqual([])
  expect(others.filter(path => namesPath(glob, path))).toEqual([])
})

test('agrees with a regular expression', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'ab', 'aab'), { minLength: 1, maxLength: 5 })
  const parts = fc.array(fc.constantFrom('a', '*', '**', '?b', 'a*', '*a*b'), { minLength: 2, maxLength: 5 })
  fc.assert(
    fc.property(names, parts, (given, wanted) => {
      const pattern = wanted.map((part, n) => {
        const last = n === wanted.length - 1
        if (part === '**') return last ? '(?:[^/]+/)*[^/]*' : '(?:[^/]+/)*'
        return part.replaceAll('*', '[^/]*').replaceAll('?', '[^/]') + (last ? '' : '/')
      })
      const path = given.join('/')
      const expected = new RegExp(`^${pattern.join('')}$`).test(path)
      if (expected)
        expect([wanted.join('/'), path, namesPath(wanted.join('/'), path)]).toEqual([
          wanted.join('/'),
          path,
          true,
        ])
    }),
  )
})
