import { engine_tests } from './engine-tests.ts'
import { runTests } from './run-tests.ts'

/**
 * The guarantees of a sandbox on every container engine that runs here: Docker, Podman, an image of its own,
 * and gVisor where it is installed; and in pods of Kubernetes. The image of the service, built and run.
 */
await runTests([...engine_tests, ...process.argv.slice(2)], {})
