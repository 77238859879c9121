import { z } from 'zod'
import { pageOf, pageQuery } from '../page.ts'
import { text } from '../text.ts'
import { forgeResources } from './forge-resources.ts'

/** The forges that an organization can be connected to; `gitea` is Forgejo too. */
export const forgeKinds = ['github', 'gitea'] as const
export type ForgeKind = (typeof forgeKinds)[number]
export const forgeNames: Record<ForgeKind, string> = { github: 'GitHub', gitea: 'Gitea' }

const GITHUB = 'https://github.com'
const GITEA = 'https://git.example.org/gitea'
const url = text(1, 500).describe(
  'Web address without a path: `https://github.com`, or a GitHub Enterprise Server',
)

const base_url = text(1, 500).describe(
  'Web address, with its path if it has one: `https://git.example.org`, `https://example.org/gitea`',
)

export const ForgeAddress = z.object({ url: url.default(GITHUB) })
export const GiteaAddress = z.object({ url: base_url })

const App = z
  .object({
    app_id: z.int().min(1).describe('The number of the app'),
    private_key: text(1, 20_000).describe('A private key of it, PEM; never shown again'),
    installation_id: z
      .int()
      .min(1)
      .nullish()
      .describe('The only installation to use; absent: the one of each repository'),
  })
  .describe('A GitHub App; the service creates and renews its tokens')

const webhook_secret = text(1, 200)
  .refine(value => value.length >= 16, 'must have at least 16 characters')
  .meta({ wire_rules: { minLength: 16 } })
  .nullish()
  .describe('Signs deliveries of the forge; absent: unchanged, or generated and shown once')

/** Exactly one of `token` and `app`. */
export const ForgeConnectionInput = z
  .object({
    url: url.default(GITHUB),
    token: text(1, 500, { trim: true })
      .nullish()
      .describe('A personal access token, preferably of a machine user; never shown again'),
    app: App.nullish(),
    webhook_secret,
  })
  .refine(({ token, app }) => (token == null) !== (app == null), {
    path: ['token'],
    message: 'give either a token or an app',
  })
  .meta({ id: 'ForgeConnectionInput', examples: [{ url: GITHUB, token: 'github_pat_…' }] })
export type ForgeConnectionInput = z.output<typeof ForgeConnectionInput>

export const GiteaConnectionInput = z
  .object({
    url: base_url,
    token: text(1, 500, { trim: true }).describe(
      'An access token, preferably of a machine user; never shown again',
    ),
    webhook_secret,
  })
  .meta({ id: 'GiteaConnectionInput', examples: [{ url: GITEA, token: '9f86d081884c7d65…' }] })

const MissingPermission = z
  .object({
    resource: z.enum(forgeResources).describe('The resource that cannot be read or written'),
    problem: z.string().describe('The feature that does not work without it'),
    fix: z.string().describe('Instructions to grant the permission'),
    detail: z.string().describe('The message of the forge'),
    repo_ids: z.array(z.int()).describe('The repositories for which the forge refused it'),
  })
  .meta({ id: 'MissingPermission' })
export type MissingPermission = z.output<typeof MissingPermission>

export const ForgeConnection = z
  .object({
    id: z.int().describe('The connection'),
    kind: z.enum(forgeKinds).describe('Kind of the forge; `gitea` includes Forgejo'),
    url: z.string().describe('Web address'),
    auth: z.enum(['token', 'app']).describe('Credentials with which the service signs in'),
    login: z.string().nullable().describe('The account of the service there; null while unknown'),
    app_id: z.int().nullable().describe('The number of the app, if it is one'),
    app_slug: z.string().nullable().describe('The name of the app in addresses'),
    installation_id: z.int().nullable().describe('The only installation that is used'),
    active: z.boolean().describe('Whether the last request succeeded'),
    problem: z.string().nullable().describe('The cause of the failure'),
    missing_permissions: z
      .array(MissingPermission)
      .describe(
        'Requests that the forge refused because these credentials lack a permission; everything else works',
      ),
    webhook_url: z.string().describe('The webhook URL for the forge'),
    webhook_secret: z
      .string()
      .nullable()
      .describe('The webhook secret: shown when it was just generated, and never again'),
    last_used_at: z.iso
      .datetime()
      .nullable()
      .describe('Time of the last use, accurate to a minute; null: never'),
    updated_at: z.iso.datetime().describe('Time of the last change'),
    updated_by: z
      .int()
      .describe('The user who set it, and who owns the runs that people start from the forge'),
  })
  .meta({
    id: 'ForgeConnection',
    examples: [
      {
        id: 3,
        kind: 'github',
        url: GITHUB,
        auth: 'token',
        login: 'careful-bot',
        app_id: null,
        app_slug: null,
        installation_id: null,
        active: true,
        problem: null,
        missing_permissions: [],
        webhook_url: 'https://agents.example.org/hooks/github/3',
        webhook_secret: null,
        last_used_at: '2026-11-20T10:31:12.000Z',
        updated_at: '2026-11-20T10:30:00.000Z',
        updated_by: 1,
      },
    ],
  })
export type ForgeConnection = z.output<typeof ForgeConnection>

export const ListForgeRepositoriesQuery = ForgeAddress.extend(pageQuery)
export type ListForgeRepositoriesQuery = z.output<typeof ListForgeRepositoriesQuery>
export const ListGiteaRepositoriesQuery = GiteaAddress.extend(pageQuery)

const ForgeRepositoryItem = z
  .object({
    full_name: z.string().describe('Owner and name'),
    url: z.string().describe('The address to register'),
    default_branch: z.string().nullable().describe('Its own default branch'),
    private: z.boolean().describe('Whether it is private'),
    archived: z.boolean().describe('Whether it is archived'),
    repo_id: z.int().nullable().describe('The id of its registration here; null: it is not registered'),
  })
  .meta({
    id: 'ForgeRepository',
    examples: [
      {
        full_name: 'acme/app',
        url: 'https://github.com/acme/app.git',
        default_branch: 'main',
        private: true,
        archived: false,
        repo_id: null,
      },
    ],
  })
export const ForgeRepositoryPage = pageOf(ForgeRepositoryItem).meta({ id: 'PageOfForgeRepository' })

export const AppManifestInput = z
  .object({
    url: text(1, 80).default(GITHUB).describe('Web address without a path'),
    owner: text(1, 39)
      .nullish()
      .describe('The organization there that will own the app; absent: the signed-in account'),
    name: text(1, 34, { trim: true })
      .default('agentrun')
      .describe('The name of the app: it must be unique on GitHub'),
  })
  .meta({ id: 'AppManifestInput', examples: [{ owner: 'acme', name: 'acme-agents' }] })
export type AppManifestInput = z.output<typeof AppManifestInput>

export const AppManifest = z
  .object({
    open_url: z
      .string()
      .describe(
        'To be opened in a browser that is signed in to this service as an ADMIN: it leads to GitHub and back, and the app is connected',
      ),
    expires_at: z.iso.datetime().describe('Time at which it expires'),
  })
  .meta({
    id: 'AppManifest',
    examples: [
      {
        open_url: 'https://agents.example.org/hooks/github-app/manifest?state=1.3f…',
        expires_at: '2026-11-20T11:30:00.000Z',
      },
    ],
  })

export const ManifestState = z.object({ state: text(1, 500).describe('The state in `open_url`') })

export const AppRequest = z
  .object({
    url: z.string().describe('The address of GitHub'),
    owner: z
      .string()
      .nullable()
      .describe('The organization there that owns the app; null: the account of the person'),
    name: z.string().describe('The name of the app'),
    started_by: z.int().describe('The user who began'),
    expires_at: z.iso.datetime().describe('Time until which it must be connected'),
  })
  .meta({
    id: 'AppRequest',
    examples: [
      {
        url: GITHUB,
        owner: 'acme',
        name: 'acme-agents',
        started_by: 1,
        expires_at: '2026-11-20T11:30:00.000Z',
      },
    ],
  })

export const AppResponse = ManifestState.extend({
  code: text(1, 100).describe('The code that GitHub passed'),
}).meta({
  id: 'AppResponse',
  examples: [{ state: '1.3f…', code: 'c' }],
})
export type AppResponse = z.output<typeof AppResponse>

export const ConnectedApp = z
  .object({
    name: z.string().describe('The name of the app'),
    install_url: z.string().describe('The page of GitHub where it is installed on repositories'),
  })
  .meta({
    id: 'ConnectedApp',
    examples: [{ name: 'acme-agents', install_url: 'https://github.com/apps/acme-agents/installations/new' }],
  })

export const ForgeReceipt = z
  .object({
    received: z.literal(true).describe('The delivery is recorded'),
    duplicate: z.boolean().describe('Whether it was received before'),
    queued: z.boolean().describe('Whether it has an effect'),
    reason: z.string().nullable().describe('The reason for which it has none'),
  })
  .meta({ id: 'ForgeReceipt', examples: [{ received: true, duplicate: false, queued: true, reason: null }] })
export type ForgeReceipt = z.output<typeof ForgeReceipt>

export const GiteaDelivery = z
  .looseObject({})
  .meta({ id: 'GiteaDelivery', examples: [{ action: 'created' }] })
export const GitHubDelivery = z
  .looseObject({})
  .meta({ id: 'GitHubDelivery', examples: [{ zen: 'Keep it logically awesome.' }] })
