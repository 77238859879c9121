import { expect, test } from 'vitest'
import { workflowRefusal } from './workflow-refusal.ts'

const of = (who: string, why: string) =>
  `the remote refused the branch: [remote rejected] (refusing to allow ${who} to create or update workflow \`.github/workflows/ci.yml\` without ${why})`

test('a refused workflow file names the file and the permission that the credentials lack', () => {
  expect(workflowRefusal(of('a GitHub App', '`workflows` permission'))).toMatch(
    /may not change \.github\/workflows\/ci\.yml: the GitHub App needs the repository permission "Workflows: Read and write"/,
  )
  for (const who of ['a Personal Access Token', 'an OAuth App'])
    expect(workflowRefusal(of(who, '`workflow` scope'))).toContain('ci.yml')
  expect(workflowRefusal(of('a Personal Access Token', '`workflow` scope'))).toContain(
    'the scope "workflow" (classic)',
  )
})

test('any other refusal is left as it is', () => {
  expect(
    workflowRefusal(
      'the remote refused the branch: [remote rejected] (pre-receive hook declined)\nno workflow today',
    ),
  ).toBe(null)
})
