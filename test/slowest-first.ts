import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest starts first, so that no worker is left alone with it at the end. Files that mostly wait, for leases to end, stand
 * between those that keep a processor busy: then neither kind has all workers.
 */
export const slowest = [
  'test/runs/messages.test.ts',
  'test/system/admin.test.ts',
  'test/runs/stop-anywhere.test.ts',
  'test/api/conformance.test.ts',
  'test/runs/bad-repositories.test.ts',
  'test/runs/lost-in-the-push.test.ts',
  'test/runs/bounds.test.ts',
  'test/sandbox/layered.test.ts',
  'test/e2e/live-run.test.ts',
  'test/git/workspaces.test.ts',
  'test/runs/rolling-restart.test.ts',
  'test/api/merge-pull-request.test.ts',
  'test/runs/lifecycle.test.ts',
  'test/runs/bad-models.test.ts',
  'test/e2e/model-run.test.ts',
  'test/runs/recovery.test.ts',
  'test/runs/templates.test.ts',
  'test/sandbox/lifecycle.test.ts',
  'test/client/cli-administration.test.ts',
  'test/runs/crash.test.ts',
  'test/client/cli.test.ts',
  'test/runs/clients-at-once.test.ts',
  'test/api/existing-clients.test.ts',
  'test/api/other-clients.test.ts',
  'test/faults/database-and-runs.test.ts',
  'test/chaos/chaos.long.test.ts',
  'test/faults/git.test.ts',
  'test/e2e/long-trace.test.ts',
  'test/runs/budgets.test.ts',
  'test/runs/lost-host.test.ts',
  'test/runs/hostile-git.test.ts',
  'test/runs/next-branch.test.ts',
  'test/api/attacks.test.ts',
  'test/runs/lost-at-the-end.test.ts',
  'test/api/run-sequences.test.ts',
  'test/git/merge.test.ts',
  'test/backup/under-load.test.ts',
  'test/faults/races.test.ts',
  'test/runs/pause.test.ts',
  'test/faults/api-processes.test.ts',
  'test/e2e/api-reference.test.ts',
  'test/faults/model.test.ts',
  'test/runs/lost-at-the-start.test.ts',
  'test/runs/checkpoints.test.ts',
]

/** The files above in their order, then the others as Vitest would have them. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = (file: TestSpecification) => slowest.indexOf(relative(file.project.config.root, file.moduleId))
    const known = files.filter(file => place(file) >= 0).sort((a, b) => place(a) - place(b))
    return [...known, ...(await super.sort(files.filter(file => place(file) < 0)))]
  }
}
