import { type ForgeResource, forgeResourceNames } from '../../contract/repositories/forge-resources.ts'
import type { ForgeKind } from '../../contract/repositories/forges.ts'

/** The checks of a commit that can be missing because a permission is missing. */
export const checkResources = [
  'check_runs',
  'app_check_runs',
  'commit_statuses',
] as const satisfies readonly ForgeResource[]

type CheckResource = (typeof checkResources)[number]
export type UnreadableChecks = CheckResource[]
export const isCheckResource = (resource: ForgeResource): resource is CheckResource =>
  checkResources.some(one => one === resource)

const effects: Record<ForgeResource, string> = {
  check_runs:
    'Check runs, such as those of GitHub Actions, are not readable: runs neither wait for them nor fix what fails.',
  app_check_runs: 'GitHub Actions is read by its workflow runs. Check runs of other apps are not readable.',
  commit_statuses: 'Commit statuses are not readable: runs neither wait for them nor fix what fails.',
  run_status: 'Commits do not show how their run is going.',
  user_permissions:
    'Nobody can start or steer runs from the forge, because it does not report who has write access.',
  issues: 'Mentions and labels are not found, because issues, pull requests and comments are not readable.',
}

const of_apps: Record<ForgeResource, string> = {
  check_runs:
    'Give the GitHub App the repository permission "Checks: write", and accept it on each installation.',
  app_check_runs:
    'Give the GitHub App the repository permission "Checks: write", and accept it on each installation.',
  commit_statuses:
    'Give the GitHub App the repository permission "Commit statuses: write", and accept it on each installation.',
  run_status:
    'Give the GitHub App the repository permissions "Checks: write" and "Commit statuses: write", and accept them on each installation.',
  user_permissions:
    'Give the GitHub App the repository permission "Metadata: read", and accept it on each installation.',
  issues:
    'Give the GitHub App the repository permissions "Issues: write" and "Pull requests: write", and accept them on each installation.',
}

const of_tokens: Record<ForgeResource, string> = {
  check_runs:
    'Give a fine-grained token "Actions: read" to read workflow runs. Only a GitHub App with "Checks: write" or a classic token with `repo` reads all check runs.',
  app_check_runs:
    'Fine-grained tokens cannot have this permission. Connect a GitHub App with "Checks: write", or a classic token with `repo`, if you need them.',
  commit_statuses: 'Give the token "Commit statuses: write" (fine-grained) or the scope `repo` (classic).',
  run_status: 'Give the token "Commit statuses: write" (fine-grained) or the scope `repo` (classic).',
  user_permissions: 'Give the token "Metadata: read" (fine-grained) or the scope `repo` (classic).',
  issues:
    'Give the token "Issues: write" and "Pull requests: write" (fine-grained) or the scope `repo` (classic).',
}

const of_gitea: Record<ForgeResource, string> = {
  check_runs: 'Create the token with the scope `write:repository`.',
  app_check_runs: 'Create the token with the scope `write:repository`.',
  commit_statuses:
    'Create the token with the scope `write:repository`, and give its user access to the code of the repository.',
  run_status:
    'Create the token with the scope `write:repository`, and give its user write access to the code of the repository.',
  user_permissions: 'Make the user of the token an administrator of the repository.',
  issues:
    'Create the token with the scopes `write:issue` and `write:repository`, and give its user access to the issues of the repository.',
}

/**
 * Returns the sentence for a final answer; empty when everything is readable. `seen`: some checks are
 * visible, so those of other apps need not be missing.
 */
export function unreadableSentence(resources: UnreadableChecks, seen: boolean): string {
  const names = resources
    .filter(resource => !seen || resource !== 'app_check_runs')
    .map(resource => forgeResourceNames[resource])
  if (names.length === 0) return ''
  return `Not readable: ${names.join(' and ')}, because the connection to the forge lacks a permission; the page Forges shows which.`
}

/** Returns what does not work without the permission, and how to grant it. */
export function missingPermission(
  { kind, auth }: { kind: ForgeKind; auth: 'token' | 'app' },
  resource: ForgeResource,
): { problem: string; fix: string } {
  const fixes = kind === 'gitea' ? of_gitea : auth === 'app' ? of_apps : of_tokens
  return { problem: effects[resource], fix: fixes[resource] }
}
