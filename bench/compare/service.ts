import { startService } from '../start-service.ts'
import { CONCURRENT } from './measure-peer.ts'
import type { Peer } from './peer.ts'

/**
 * This service with its own database, fsync on: each run in a sandbox of its own, on a checkout of the
 * repository.
 */
export const service: Peer = {
  name: 'this service',
  async start(stack, { model_url, repository }) {
    const running = stack.use(
      await startService({
        AGENTRUN_INIT_REPO_URL: repository,
        OPENAI_COMPATIBLE_BASE_URL: model_url,
        AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
        AGENTRUN_WORKER_CONCURRENCY: String(CONCURRENT),
        AGENTRUN_RUN_MAX_STEPS: '1000',
      }),
    )
    return {
      version: '',
      async run(prompt) {
        const created_at = performance.now()
        const run = await running.call('POST', '/agent/run', { prompt })
        return { created_at, start_ms: 0, ended: running.ended(Number(run.id)) }
      },
    }
  },
}
