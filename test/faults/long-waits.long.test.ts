import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { createModelCatalog } from '../../src/model/catalog.ts'
import { failureOf, request } from '../model/protocols.ts'

// Waits of the real length: only with TEST_SOAK=1.
const soak = process.env.TEST_SOAK === '1'

/** A port of this machine whose queue of connections is full: a new connection is never accepted. */
async function startBlackHole(): Promise<AsyncDisposable & { port: number }> {
  const script = `import socket, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(0)
held = []
for _ in range(4):
    c = socket.socket(); c.setblocking(False)
    try: c.connect(s.getsockname())
    except BlockingIOError: pass
    held.append(c)
print(s.getsockname()[1], flush=True); time.sleep(600)`
  const child = spawn('python3', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [text] = await once(child.stdout, 'data')
  return {
    port: Number(text),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}

test.runIf(soak)(
  'fault 20: a model server that never takes the connection is unavailable after ten seconds',
  async () => {
    await using hole = await startBlackHole()
    const models = createModelCatalog({
      default_model: 'openai-compatible/x',
      openai_compatible: { base_url: `http://127.0.0.1:${hole.port}/v1` },
    })
    const started = performance.now()
    const failure = await failureOf((models.get('openai-compatible/x') ?? expect.fail()).call(request()))
    expect(failure).toMatchObject({ code: 'unavailable', retryable: true })
    expect(performance.now() - started).toBeLessThan(15_000)
  },
  60_000,
)
