import { spawnSync } from 'node:child_process'

/** The guarantees of a sandbox on every container engine that runs here: Docker, Podman, an image of its own, and gVisor where it is installed; and in pods of Kubernetes. */
const files = ['test/sandbox/containers', 'test/sandbox/kubernetes', 'test/runs/sandboxes/in-containers', 'test/runs/sandboxes/in-pods']
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files, ...process.argv.slice(2)], {
  env: { ...process.env, TEST_ENGINES: '1' },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
