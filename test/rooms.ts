/**
 * The permitted imports. A room is a top folder or file of src. Every room may import contract and core,
 * which are pure. `code`: other rooms, or single files of them. `types`: seen by the compiler only, nothing
 * of it is loaded. `packages`: from npm. `node`: Node's own modules, true for all.
 */
export type Room = { code?: string[]; types?: string[]; packages?: string[]; node?: true | string[] }

export const centre = ['src/contract', 'src/core']
export const rooms: Record<string, Room> = {
  'src/contract': { packages: ['zod'] },
  // `node:net` for what an address is, not for a connection.
  'src/core': {
    code: ['src/contract'],
    packages: ['mdast-util-from-markdown', 'mdast-util-gfm-table', 'micromark-extension-gfm-table', 'yaml'],
    node: ['node:crypto', 'node:net'],
  },
  // Detection without a model: pure, like contract and core.
  'src/log-analysis': {},
  'src/setup-detection': { packages: ['smol-toml', 'yaml'] },
  // Large texts on separate threads, because they would block the event loop.
  'src/redaction': { node: ['node:worker_threads'] },
  // Rows and texts.
  'src/store': { packages: ['pg', 'zod'], node: ['node:crypto', 'node:fs/promises'] },
  'src/trace': {
    code: ['src/redaction/redact.ts'],
    types: ['src/agent/tool.ts', 'src/model/port.ts', 'src/redaction/port.ts', 'src/store/runs/append.ts'],
  },
  'src/live': { code: ['src/store/notify.ts', 'src/store/leases/worker-sessions.ts'], packages: ['pg'] },
  // The API: SQL only through service and store, Fastify only in http, and no worker in either.
  'src/service': {
    code: [
      'src/forge/port.ts',
      'src/forge/sync.ts',
      'src/log-analysis',
      'src/markdown',
      'src/redaction',
      'src/store',
      'src/trace/entry.ts',
      'src/trace/recorded-log.ts',
      'src/trace/redacted-entry.ts',
    ],
    types: ['src/forge/forges.ts', 'src/live/feed.ts', 'src/queue/consumer.ts'],
    node: ['node:crypto'],
  },
  'src/http': {
    code: ['src/service'],
    types: ['src/live', 'src/telemetry/port.ts'],
    packages: ['fastify', '@fastify/cors', '@fastify/static', '@modelcontextprotocol/server', 'zod'],
    // `node:http` for a type, `node:stream` and `node:stream/web` for responses that are web streams.
    node: [
      ...['node:crypto', 'node:fs', 'node:fs/promises', 'node:http', 'node:net', 'node:path'],
      ...['node:stream', 'node:stream/promises', 'node:stream/web', 'node:zlib'],
    ],
  },
  // Counts and traces the reports of those who see its port.
  'src/telemetry': {
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-proto',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
      '@prometheus-io/client',
    ],
    node: ['node:http', 'node:net'],
  },
  // The work: the agent sees two ports and no database; only the worker sees both sides.
  'src/model': {
    packages: ['ai', '@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai', '@ai-sdk/openai-compatible'],
    node: ['node:async_hooks'],
  },
  // Requests of programs in sandboxes to the model of their run.
  'src/gateway': {
    code: ['src/model/call-guard.ts', 'src/model/port.ts'],
    packages: ['eventsource-parser'],
    node: ['node:events', 'node:http', 'node:net'],
  },
  // The protocol of agents of other vendors, which run in a sandbox.
  'src/acp': { code: ['src/sandbox/port.ts'], packages: ['@agentclientprotocol/sdk'], node: ['node:stream'] },
  // MCP servers whose tools agents use: programs in the sandbox, and addresses, by the `fetch` that it is
  // given.
  'src/mcp': {
    code: ['src/acp/messages.ts', 'src/redaction/background-redactor.ts'],
    types: ['src/sandbox/port.ts'],
    packages: ['@modelcontextprotocol/client', '@modelcontextprotocol/server'],
    node: ['node:crypto'],
  },
  // Pages of the web as text, on separate threads, because strangers write them.
  'src/html': { packages: ['html-to-text'], node: ['node:worker_threads'] },
  // Mentions in Markdown, which strangers write too.
  'src/markdown': {
    code: ['src/html/on-thread.ts'],
    node: ['node:worker_threads'],
  },
  'src/agent': {
    code: [
      'src/model/port.ts',
      'src/redaction/port.ts',
      'src/sandbox/files.ts',
      'src/sandbox/port.ts',
      'src/setup-detection',
    ],
    node: ['node:fs'],
  },
  'src/worker': {
    code: [
      ...[
        'src/acp',
        'src/agent',
        'src/egress',
        'src/gateway',
        'src/html',
        'src/mcp',
        'src/forge/port.ts',
        'src/forge/sync.ts',
        'src/git',
        'src/redaction',
      ],
      ...[
        'src/log-analysis',
        'src/model/port.ts',
        'src/sandbox',
        'src/setup-detection',
        'src/store',
        'src/trace',
      ],
    ],
    types: ['src/forge/forges.ts', 'src/live/hub.ts', 'src/system/users.ts', 'src/telemetry/port.ts'],
    // `node:async_hooks`, `node:inspector` and `node:worker_threads` for the thread that renews leases and
    // watches the event loop.
    node: [
      ...['node:async_hooks', 'node:inspector', 'node:worker_threads'],
      ...['node:crypto', 'node:fs', 'node:fs/promises', 'node:path', 'node:timers/promises'],
    ],
  },
  // Outgoing reports: they pass the same address checks as the traffic of sandboxes.
  'src/webhooks': {
    code: ['src/egress/post.ts', 'src/redaction', 'src/store'],
    types: ['src/egress/connect-checked.ts', 'src/queue/consumer.ts', 'src/telemetry/port.ts'],
  },
  // Claims and handles the items of any queue.
  'src/queue': {},
  // Other forges, by their APIs: it reaches them with the `fetch` that it is given.
  'src/forge': {
    code: ['src/store'],
    packages: ['@octokit/auth-app', '@octokit/core', '@octokit/request-error', 'zod'],
  },
  // What touches the machine.
  'src/system': { node: true },
  'src/postgres': { code: ['src/system'], packages: ['pg', 'zod'], node: true },
  // Responses of container engines are parsed.
  'src/sandbox': { code: ['src/system'], node: true, packages: ['zod'] },
  // Hostile requests come in here: it sees no database and no sandbox.
  'src/egress': { code: ['src/system'], node: true },
  'src/git': { code: ['src/system'], node: true },
  // Clients: the contract and nothing of the server; the SDK runs in a browser, so nothing of Node either.
  'src/client/sdk': { packages: ['eventsource-parser'] },
  'src/client/cli': { code: ['src/client/sdk'], packages: ['commander'], node: true },
  'src/backup': {
    code: ['src/store/migrate.ts'],
    packages: ['pg', 'pg-copy-streams', 'zod'],
    node: ['node:crypto', 'node:events', 'node:fs', 'node:fs/promises', 'node:stream/promises', 'node:zlib'],
  },
  // The operator's checks of a deployment.
  'src/doctor': { code: ['src/store'] },
  // Composition.
  'src/configuration': { packages: ['smol-toml', 'zod'], node: ['node:fs', 'node:path', 'node:util'] },
  'src/config.ts': {
    code: ['src/configuration'],
    packages: ['zod'],
    node: ['node:fs'],
  },
  'src/banner.ts': { types: ['src/service/access/first-start.ts', 'src/system/start-credentials.ts'] },
  'src/compose': {
    code: [
      'src/config.ts',
      'src/egress',
      'src/forge',
      'src/git',
      'src/http',
      'src/live',
      'src/mcp/sign-in',
      'src/model',
      'src/postgres',
      'src/queue',
      'src/sandbox',
      'src/service',
      'src/store',
      'src/system',
      'src/telemetry',
      'src/webhooks',
      'src/worker',
    ],
    types: ['src/agent/related-runs.ts'],
    node: ['node:fs', 'node:os', 'node:path'],
  },
  'src/admin.ts': {
    code: [
      ...[
        'src/backup',
        'src/config.ts',
        'src/configuration',
        'src/doctor',
        'src/postgres',
        'src/service/access/operator.ts',
        'src/service/secrets/rotate-secrets.ts',
        'src/store/database.ts',
        'src/store/migrate.ts',
      ],
      ...['src/system'],
    ],
    node: ['node:fs', 'node:path', 'node:url', 'node:util'],
  },
  'src/main.ts': {
    code: ['src/banner.ts', 'src/compose', 'src/config.ts', 'src/store/migrate.ts', 'src/system'],
    node: ['node:fs', 'node:module', 'node:url'],
  },
}

/** The page knows of the server what every client knows, and its own rooms only downwards. */
export const from_server = ['src/contract', 'src/core/repositories/sample.ts']
export const web_rooms: Record<string, string[]> = {
  'web/src/ui': [],
  'web/src/text': [],
  'web/src/api': [...from_server, 'src/client/sdk', 'src/core/pause.ts'],
  'web/src/reference': ['web/src/api'],
  'web/src/trace': [...from_server, 'src/client/sdk/follow.ts', 'web/src/api', 'web/src/text'],
  'web/src/components': [
    ...from_server,
    ...[
      'src/client/sdk/follow.ts',
      'web/src/api',
      'web/src/reference',
      'web/src/search-params.ts',
      'web/src/text',
      'web/src/trace',
      'web/src/ui',
    ],
  ],
  'web/src/pages': [
    ...from_server,
    ...[
      'src/client/sdk/error.ts',
      'src/core/pause.ts',
      'web/src/api',
      'web/src/app-route.tsx',
      'web/src/components',
      'web/src/reference',
      'web/src/search-params.ts',
      'web/src/text',
      'web/src/trace',
      'web/src/ui',
    ],
  ],
}
