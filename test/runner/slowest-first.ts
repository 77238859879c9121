import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest starts first, so that no worker is left alone with it at the end. Files that mostly wait, for leases to end, come
 * between those that keep a processor busy: then neither kind has all workers.
 */
export const slowest = [
  'test/runs/forges/github-requests.long.test.ts',
  'test/runs/forges/github-pull-requests.test.ts',
  'test/runs/states/lifecycle.test.ts',
  'test/runs/setup/environments.long.test.ts',
  'test/e2e/live-run.test.ts',
  'test/runs/checks/checks.test.ts',
  'test/runs/forges/github-polls.long.test.ts',
  'test/git/workspace/workspaces.test.ts',
  'test/runs/git/next-branch.long.test.ts',
  'test/runs/agent/model-evaluations.test.ts',
  'test/runs/agent/compaction.test.ts',
  'test/runs/agent/child-runs.test.ts',
  'test/secrets/agent-secrets.test.ts',
  'test/sandbox/lifecycle.test.ts',
  'test/system/admin.test.ts',
  'test/runs/forges/gitea.test.ts',
  'test/runs/setup/setup.test.ts',
  'test/runs/agent/budgets.test.ts',
  'test/runs/setup/generate-setup.long.test.ts',
  'test/runs/git/pull-request-agent.long.test.ts',
  'test/client/cli.test.ts',
  'test/client/cli-administration.long.test.ts',
  'test/runs/git/templates.long.test.ts',
  'test/e2e/run-list.long.test.ts',
  'test/runs/sandboxes/fork.long.test.ts',
  'test/e2e/api-reference.long.test.ts',
  'test/runs/agent/turn-ends.test.ts',
  'test/e2e/pull-request.long.test.ts',
  'test/api/runs/execute-tool.test.ts',
  'test/e2e/any-screen.long.test.ts',
  'test/runs/agent/model-requests.test.ts',
  'test/runs/sandboxes/checkpoints.test.ts',
  'test/runs/git/clone-and-push.test.ts',
  'test/runs/setup/setup-trust.long.test.ts',
  'test/api/pull-requests/merge-pull-request.test.ts',
  'test/runs/git/commit-evaluation.test.ts',
  'test/runs/states/pause.test.ts',
  'test/git/merge.test.ts',
  'test/e2e/model-run.test.ts',
  'test/runs/recovery/messages.long.test.ts',
  'test/sandbox/containers/docker.long.test.ts',
  'test/runs/recovery/stop-anywhere.long.test.ts',
  'test/api/contract/conformance.long.test.ts',
  'test/runs/git/bad-repositories.long.test.ts',
  'test/runs/recovery/lost-in-the-push.long.test.ts',
  'test/runs/recovery/bounds.long.test.ts',
  'test/sandbox/layered.long.test.ts',
  'test/runs/recovery/rolling-restart.long.test.ts',
  'test/runs/agent/bad-models.long.test.ts',
  'test/runs/recovery/clients-at-once.long.test.ts',
  'test/api/clients/existing-clients.long.test.ts',
  'test/api/clients/other-clients.long.test.ts',
  'test/faults/database-and-runs.long.test.ts',
  'test/chaos/chaos.long.test.ts',
  'test/faults/git.long.test.ts',
  'test/e2e/long-trace.long.test.ts',
  'test/runs/recovery/lost-host.long.test.ts',
  'test/runs/git/hostile-git.long.test.ts',
  'test/api/contract/attacks.long.test.ts',
  'test/runs/recovery/recovery.long.test.ts',
  'test/runs/checks/checks-cut-short.long.test.ts',
  'test/runs/forges/github-checks.long.test.ts',
  'test/runs/recovery/lost-sandbox.long.test.ts',
  'test/runs/forges/concurrent-polls.long.test.ts',
  'test/runs/recovery/crash.long.test.ts',
  'test/runs/forges/gitea-polls.long.test.ts',
  'test/runs/agent/whole-output.long.test.ts',
  'test/client/package.long.test.ts',
  'test/runs/recovery/lost-at-the-end.long.test.ts',
  'test/api/contract/run-sequences.long.test.ts',
  'test/backup/under-load.long.test.ts',
  'test/faults/races.long.test.ts',
  'test/faults/api-processes.long.test.ts',
  'test/faults/model.long.test.ts',
  'test/runs/recovery/lost-at-the-start.long.test.ts',
  'src/setup-detection/repair/hostile-rules.long.test.ts',
]

/** The files above in their order, then the others as Vitest would have them. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const location = (file: TestSpecification) => slowest.indexOf(relative(file.project.config.root, file.moduleId))
    const known = files.filter(file => location(file) >= 0).sort((a, b) => location(a) - location(b))
    return [...known, ...(await super.sort(files.filter(file => location(file) < 0)))]
  }
}
