import { expect, test } from 'vitest'
import { needsApproval, readApprovals } from './path-approvals.ts'

const RUN = [
  ...[
    '.github/workflows/ci.yml',
    '.github/actions/build/action.yml',
    'tools/setup/action.yml',
    '".github/workflows/\\377.yml"',
  ],
  ...[
    '.gitlab-ci.yml',
    'deploy/.gitlab-ci.yml',
    'build.gitlab-ci.yml',
    '.gitlab-ci.d/build.yml',
    '.gitlab/ci/a.yml',
  ],
  ...[
    'Jenkinsfile',
    'services/api/Jenkinsfile',
    'deploy/Jenkinsfile.release',
    'ci/build.jenkinsfile',
    '.circleci/config.yml',
  ],
  ...[
    '.forgejo/workflows/x.yaml',
    'azure-pipelines.yml',
    '.azure-pipelines/build.yml',
    '.tekton/push.yaml',
    '.appveyor.yml',
  ],
  ...[
    '.builds/alpine.yml',
    '.build.yml',
    '.cirrus.yml',
    '.cirrus.star',
    '.harness/build.yaml',
    '.teamcity/settings.kts',
  ],
  ...[
    'buildspec.yml',
    'codemagic.yaml',
    'cloudbuild.yaml',
    '.drone.yml',
    '.woodpecker/a.yml',
    '.woodpecker.yml',
  ],
  ...[
    'vercel.json',
    'netlify.toml',
    'apps/web/netlify.toml',
    'render.yaml',
    'amplify.yml',
    'wrangler.toml',
    'wrangler.jsonc',
    'fly.toml',
  ],
  ...[
    '.pre-commit-config.yaml',
    'renovate.json',
    '.renovaterc',
    '.github/renovate.json5',
    '.github/dependabot.yml',
    '.mergify.yml',
  ],
  ...[
    'CODEOWNERS',
    '.github/CODEOWNERS',
    'docs/CODEOWNERS',
    '.husky/pre-commit',
    'web/.husky/pre-push',
    'lefthook.yml',
    '.lefthook.toml',
  ],
  ...[
    '.devcontainer/devcontainer.json',
    '.devcontainer.json',
    '.vscode/tasks.json',
    '.envrc',
    'sub/.envrc',
    'mise.toml',
    '.mise.local.toml',
  ],
  ...[
    '.claude/settings.json',
    '.claude/hooks/a.sh',
    '.cursor/mcp.json',
    '.mcp.json',
    '.gitmodules',
    '.lfsconfig',
    '.npmrc',
  ],
  ...[
    'packages/a/.vscode/tasks.json',
    'crates/a/.cargo/config.toml',
    'app/gradle/wrapper/gradle-wrapper.properties',
    '.gitlab/agents/a/config.yaml',
  ],
  // Names that are the same for a file system of another machine, and folders whose names are not UTF-8.
  ...[
    '.vs\u200dcode/tasks.json',
    '.v\u017fcode/tasks.json',
    '.vscode./tasks.json',
    '.husky /pre-commit',
    '"a\\377/.envrc"',
    '"\\377/x/.vscode/tasks.json"',
  ],
  // A link with the name of a folder brings all of its files.
  ...['.github', '.github/workflows', '.vscode', '.husky', '.claude', '.cargo', '.VSCode/Tasks.json'],
]
const PLAIN = [
  ...[
    'src/index.ts',
    'README.md',
    'package.json',
    'docs/action.md',
    '.github/ISSUE_TEMPLATE/bug.md',
    '.gitignore',
    'test/vercel.json.ts',
  ],
  ...[
    'src/husky/a.ts',
    'Jenkins.md',
    'src/render.ts',
    'build/tasks.json',
    '.vscode/icons.svg',
    'lefthook/readme.md',
  ],
]

test('files that run on other machines need an approval, at any depth where that counts', () => {
  const approvalFor = readApprovals([])
  expect(RUN.filter(path => approvalFor(path) === null)).toEqual([])
  expect(PLAIN.filter(path => approvalFor(path) !== null)).toEqual([])
  expect(approvalFor('.envrc')).toEqual({
    code: 'ci_workflow_changed',
    body: 'Is run by an editor or shell that opens the folder: a person should review the change.',
  })
})

test('so do those of the organization, whatever the operator decides for the others', () => {
  const approvalFor = readApprovals(['infra/', '*.sql'])
  expect(
    ['infra/main.tf', 'db/001.sql', '.envrc', 'a.ts'].map(path => approvalFor(path)?.code ?? null),
  ).toEqual(['approval_path_changed', 'approval_path_changed', 'ci_workflow_changed', null])
  expect(needsApproval([{ code: 'approval_path_changed' }], false)).toBe(true)
  expect(needsApproval([{ code: 'ci_workflow_changed' }], false)).toBe(false)
  expect(needsApproval([{ code: 'ci_workflow_changed' }], true)).toBe(true)
  expect(needsApproval([{ code: 'test_removed' }], true)).toBe(false)
})
