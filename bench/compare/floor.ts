import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Peer, peerEnv, startPeer } from './peer.ts'

/** A bare loop with a persistent shell in bubblewrap that stores nothing: what no service can go below. */
export const floor: Peer = {
  name: 'floor: bare loop, shell in bubblewrap',
  async start(stack, { model_url, folder }) {
    const loop = fileURLToPath(new URL('./floor-loop.ts', import.meta.url))
    const child = startPeer(stack, process.execPath, [loop], {
      cwd: folder,
      env: peerEnv(folder, { BENCH_MODEL_URL: model_url }),
    })
    const ends = new Map<number, PromiseWithResolvers<void>>()
    createInterface({ input: child.stdout })
      .on('line', id => ends.get(Number(id))?.resolve())
      .on('close', () => {
        for (const end of ends.values()) end.reject(new Error('the loop ended'))
      })
    return {
      version: '',
      async run(prompt) {
        const id = ends.size
        const end = Promise.withResolvers<void>()
        ends.set(id, end)
        child.stdin.write(`${JSON.stringify({ id, prompt })}\n`)
        return { created_at: performance.now(), start_ms: 0, ended: end.promise }
      },
    }
  },
}
