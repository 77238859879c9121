import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest starts first, so that no worker is left alone with it at the end. Files that mostly wait, for leases to end, stand
 * between those that keep a processor busy: then neither kind has all workers.
 */
export const slowest = [
  'test/runs/github-requests.test.ts',
  'test/runs/lifecycle.test.ts',
  'test/e2e/live-run.test.ts',
  'test/runs/recovery.test.ts',
  'test/git/workspaces.test.ts',
  'test/system/admin.test.ts',
  'test/runs/github-pull-requests.test.ts',
  'test/runs/checkpoints.test.ts',
  'test/client/cli.test.ts',
  'test/runs/next-branch.test.ts',
  'test/runs/fork.test.ts',
  'test/runs/templates.test.ts',
  'test/runs/github-polls.test.ts',
  'test/sandbox/lifecycle.test.ts',
  'test/runs/clone-and-push.test.ts',
  'test/runs/crash.test.ts',
  'test/runs/budgets.test.ts',
  'test/runs/generate-setup.test.ts',
  'test/runs/checks-cut-short.test.ts',
  'test/runs/setup-trust.test.ts',
  'test/api/merge-pull-request.test.ts',
  'test/runs/gitea.test.ts',
  'test/e2e/api-reference.test.ts',
  'test/runs/commit-evaluation.test.ts',
  'test/runs/pause.test.ts',
  'test/client/cli-administration.test.ts',
  'test/git/merge.test.ts',
  'test/e2e/model-run.test.ts',
  'test/runs/messages.long.test.ts',
  'test/sandbox/docker.long.test.ts',
  'test/runs/stop-anywhere.long.test.ts',
  'test/api/conformance.long.test.ts',
  'test/runs/bad-repositories.long.test.ts',
  'test/runs/lost-in-the-push.long.test.ts',
  'test/runs/bounds.long.test.ts',
  'test/sandbox/layered.long.test.ts',
  'test/runs/rolling-restart.long.test.ts',
  'test/runs/bad-models.long.test.ts',
  'test/runs/clients-at-once.long.test.ts',
  'test/api/existing-clients.long.test.ts',
  'test/api/other-clients.long.test.ts',
  'test/faults/database-and-runs.long.test.ts',
  'test/chaos/chaos.long.test.ts',
  'test/faults/git.long.test.ts',
  'test/e2e/long-trace.long.test.ts',
  'test/runs/lost-host.long.test.ts',
  'test/runs/hostile-git.long.test.ts',
  'test/api/attacks.long.test.ts',
  'test/runs/lost-at-the-end.long.test.ts',
  'test/api/run-sequences.long.test.ts',
  'test/backup/under-load.long.test.ts',
  'test/faults/races.long.test.ts',
  'test/faults/api-processes.long.test.ts',
  'test/faults/model.long.test.ts',
  'test/runs/lost-at-the-start.long.test.ts',
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
