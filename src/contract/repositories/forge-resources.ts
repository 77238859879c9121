/** What a connection may lack the permission for. */
export const forgeResources = [
  'check_runs',
  'app_check_runs',
  'commit_statuses',
  'run_status',
  'user_permissions',
  'issues',
] as const
export type ForgeResource = (typeof forgeResources)[number]
/** The name of each resource in a sentence. */
export const forgeResourceNames: Record<ForgeResource, string> = {
  check_runs: 'check runs',
  app_check_runs: 'check runs of apps other than GitHub Actions',
  commit_statuses: 'commit statuses',
  run_status: 'the status of runs on their commits',
  user_permissions: 'the permissions of people in the repository',
  issues: "people's permissions in the repository",
}
