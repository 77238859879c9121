import { spawnSync } from 'node:child_process'
import { engine_tests } from './engine-tests.ts'

/** The guarantees of a sandbox on every container engine that runs here: Docker, Podman, an image of its own, and gVisor where it is installed; and in pods of Kubernetes. The image of the service, built and run. */
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...engine_tests, ...process.argv.slice(2)], {
  env: { ...process.env, TEST_ENGINES: '1' },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
