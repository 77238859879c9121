import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPeer, type Peer, peerEnv, post, printed, startPeer, versionOf } from './peer.ts'

/** opencode's server with its own database of sessions, without snapshots and without a sandbox. */
export const opencode: Peer = {
  name: 'opencode, snapshots off',
  async start(stack, { model_url, folder, repository }) {
    const installed = await installPeer('opencode', [['opencode-ai@latest']])
    execFileSync('git', ['clone', '--quiet', repository, join(folder, 'app')])
    mkdirSync(join(folder, 'config/opencode'), { recursive: true })
    const model = { name: 'fake', tool_call: true, limit: { context: 10_000_000, output: 32_000 } }
    writeFileSync(
      join(folder, 'config/opencode/opencode.json'),
      JSON.stringify({
        provider: {
          fake: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: model_url, apiKey: 'none' },
            models: { fake: model },
          },
        },
        model: 'fake/fake',
        small_model: 'fake/fake',
        snapshot: false,
        autoupdate: false,
        share: 'disabled',
        permission: 'allow',
      }),
    )
    const env = {
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_DATA_HOME: join(folder, 'share'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_STATE_HOME: join(folder, 'state'),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    }
    const program = join(installed, 'node_modules/.bin/opencode')
    const child = startPeer(stack, program, ['serve', '--port', '0'], {
      cwd: join(folder, 'app'),
      env: peerEnv(folder, env),
    })
    const url = await printed(child, /listening on (http:\S+)/)
    return {
      version: versionOf(installed, 'opencode-ai'),
      async run(prompt) {
        const created_at = performance.now()
        const session = await post(`${url}/session`, { title: 'A run' })
        const ended = post(`${url}/session/${session.id}/message`, {
          model: { providerID: 'fake', modelID: 'fake' },
          parts: [{ type: 'text', text: prompt }],
        })
        return { created_at, start_ms: 0, ended: ended.then(() => {}) }
      },
    }
  },
}
