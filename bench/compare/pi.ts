import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { installPeer, type Peer, peerEnv, startPeer, versionOf } from './peer.ts'

const name = '@earendil-works/pi-coding-agent'

/**
 * pi, which has one session per process: each run is a process of its own. It stores its session in a file
 * and has no sandbox.
 */
export const pi: Peer = {
  name: 'pi',
  async start(_stack, { model_url, folder, repository }) {
    // A registry may lack a part of the newest release.
    const installed = await installPeer('pi', [[`${name}@latest`], [`${name}@1`], [`${name}@0.87.1`]])
    execFileSync('git', ['clone', '--quiet', repository, join(folder, 'app')])
    mkdirSync(join(folder, 'agent'))
    const model = { id: 'fake', contextWindow: 10_000_000, maxTokens: 32_000 }
    const provider = { baseUrl: model_url, api: 'openai-completions', apiKey: 'none', models: [model] }
    writeFileSync(join(folder, 'agent/models.json'), JSON.stringify({ providers: { fake: provider } }))
    const env = peerEnv(folder, {
      PI_CODING_AGENT_DIR: join(folder, 'agent'),
      PI_OFFLINE: '1',
      PI_TELEMETRY: '0',
    })
    const args = ['--mode', 'rpc', '--model', 'fake/fake', '--no-approve', '--offline']
    return {
      version: versionOf(installed, name),
      async run(prompt) {
        const own = new AsyncDisposableStack()
        const started = performance.now()
        const child = startPeer(own, join(installed, 'node_modules/.bin/pi'), args, {
          cwd: join(folder, 'app'),
          env,
        })
        const ready = Promise.withResolvers<void>()
        const end = Promise.withResolvers<void>()
        createInterface({ input: child.stdout })
          .on('line', line => {
            if (line.startsWith('{"type":"response"') || line.startsWith('{"id"')) ready.resolve()
            if (line.startsWith('{"type":"agent_settled"')) end.resolve()
          })
          .on('close', () => {
            ready.reject(new Error('pi ended'))
            end.reject(new Error('pi ended'))
          })
        end.promise.catch(() => {})
        child.stdin.write('{"type":"get_state"}\n')
        await ready.promise
        const created_at = performance.now()
        child.stdin.write(`${JSON.stringify({ type: 'prompt', message: prompt })}\n`)
        return {
          created_at,
          start_ms: created_at - started,
          ended: end.promise.finally(() => own[Symbol.asyncDispose]()),
        }
      },
    }
  },
}
