import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Mirror } from '../../src/core/network/package-mirrors.ts'
import { proxyEnvironment } from '../../src/core/sandbox-environment.ts'
import { createProxy, type EgressProxy } from '../../src/egress/proxy.ts'
import {
  type Caps,
  default_caps,
  type Gateway,
  type ProxyConfiguration,
  type Refusal,
} from '../../src/egress/proxy-configuration.ts'
import type { Rule } from '../../src/egress/rules.ts'
import { mirrorRules } from '../../src/egress/rules.ts'
import { listenOnSocket } from '../../src/egress/socket.ts'
import { makeDriver, sandbox_user, startSandbox, type TestSandbox } from '../sandbox/start-sandbox.ts'

export type TestEgress = AsyncDisposable & {
  box: TestSandbox
  /** Output of a command of the shell. */
  run(command: string): Promise<string>
  /** What was refused, in its order. */
  refusals: Refusal[]
  /** The reported requests. */
  request_texts: string[]
  /** May be changed at any time. */
  rules: Rule[]
  proxy: EgressProxy
}

/**
 * A real sandbox whose one way out is the real proxy. `names`: the entries of the name server; others do not
 * exist.
 */
export async function startEgress(options: {
  rules: Rule[]
  names?: Record<string, string[] | (() => string[])>
  allow_private?: boolean
  upstream?: URL
  gateway?: Gateway
  mirrors?: Mirror[]
  caps?: Partial<Caps>
}): Promise<TestEgress> {
  const stack = new AsyncDisposableStack()
  const created = stack.use(makeDriver())
  const folder = join(created.folder, 'sockets')
  mkdirSync(folder)
  chmodSync(folder, 0o711)
  const refusals: Refusal[] = []
  const request_texts: string[] = []
  const rules = [...mirrorRules(options.mirrors ?? []), ...options.rules]
  const configuration: ProxyConfiguration = {
    rules: async () => rules,
    async resolve(host) {
      const found = options.names?.[host]
      if (found === undefined) throw new Error(`ENOTFOUND ${host}`)
      return typeof found === 'function' ? found() : found
    },
    allow_private: options.allow_private ?? false,
    upstream: options.upstream ?? null,
    gateway: options.gateway ?? null,
    caps: { ...default_caps, ...options.caps },
    onRequestText: text => request_texts.push(text),
    onRefused: refusal => refusals.push(refusal),
  }
  const proxy = createProxy(configuration)
  stack.defer(() => proxy.close())
  const socket = await listenOnSocket(proxy.server, folder, sandbox_user?.gid ?? null)
  stack.defer(socket.remove)
  const box = stack.use(
    await startSandbox(created.driver, created.makeWorkspace('egress'), {
      sockets: [{ host: socket.path, inside: '/run/egress.sock', port: 3128 }],
      environment: proxyEnvironment(options.mirrors ?? []),
    }),
  )
  return {
    box,
    run: async command => (await box.shell(command)).text,
    refusals,
    request_texts,
    rules,
    proxy,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
