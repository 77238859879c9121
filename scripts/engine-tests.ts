/**
 * Files with tests that need a container engine, which `npm run test:engines` and CI install: the beginnings
 * of their paths.
 */
export const engine_tests = [
  'test/sandbox/containers',
  'test/sandbox/kubernetes',
  'test/runs/sandboxes/in-containers',
  'test/runs/sandboxes/in-pods',
  'test/deploy/image',
]
