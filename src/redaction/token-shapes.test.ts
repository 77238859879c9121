import { expect, test } from 'vitest'
import { pickFrom } from '../../test/redaction/hostile-texts.ts'
import { createRedactor } from './redact.ts'

const letters = (length: number) => 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8'.repeat(20).slice(0, length)
test.each([
  ['github_token', `ghp_${letters(36)}`],
  ['github_token', `github_pat_${letters(22)}_${letters(59)}`],
  ['aws_access_key', 'AKIAIOSFODNN7EXAMPLE'],
  ['slack_token', `xoxb-123456789012-${letters(24)}`],
  ['api_key', `sk-proj-${letters(48)}`],
  ['api_key', `sk-ant-api03-${letters(80)}`],
  ['google_api_key', `AIza${letters(35)}`],
  ['github_token', `ghs_12345_eyJ${letters(40)}.${letters(200)}.${letters(86)}`],
  ['gitlab_token', `glpat-${letters(20)}`],
  ['gitlab_token', `glrt-${letters(20)}`],
  ['pypi_token', `pypi-AgEIcHlwaS5vcmc${letters(120)}`],
  ['huggingface_token', `hf_${'aBcDeFgHiJ'.repeat(4).slice(0, 34)}`],
  ['groq_key', `gsk_${letters(52)}`],
  ['xai_key', `xai-${letters(80)}`],
  ['webhook_secret', `whsec_${letters(32)}`],
  ['stripe_key', `sk_test_${letters(24)}`],
  ['sendgrid_key', `SG.${letters(22)}.${letters(43)}`],
  ['google_oauth_secret', `GOCSPX-${letters(28)}`],
  ['google_access_token', `ya29.${letters(120)}`],
  ['grafana_token', `glsa_${letters(32)}_0123abcd`],
  ['onepassword_token', `ops_ey${letters(200)}fQ`],
  ['vault_token', `hvs.${letters(95)}`],
  ['vercel_token', `vcp_${letters(24)}`],
  ['databricks_token', `dapi${'0123456789abcdef'.repeat(2)}`],
  ['docker_token', `dckr_pat_${letters(27)}`],
  ['figma_token', `figd_${letters(40)}`],
  ['linear_key', `lin_api_${letters(40)}`],
  ['notion_token', `ntn_12345678901${letters(35)}`],
  ['shopify_token', `shpat_${'0123456789abcdef'.repeat(2)}`],
  ['cloudflare_token', `cfut_${letters(40)}0123abcd`],
  ['tailscale_key', `tskey-auth-${letters(12)}-${letters(32)}`],
  ['digitalocean_token', `dop_v1_${'0123456789abcdef'.repeat(4)}`],
  ['age_key', `AGE-SECRET-KEY-1${'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L'.repeat(2).slice(0, 58)}`],
  ['npm_token', `npm_${letters(36)}`],
  ['agentrun_token', `arun_p_${letters(38)}`],
  ['jwt', `eyJ${letters(20)}.eyJ${letters(40)}.${letters(43)}`],
  [
    'private_key',
    `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${letters(400).replace(/.{64}/g, '$&\n')}\n-----END RSA PRIVATE KEY-----`,
  ],
  [
    'private_key',
    `-----BEGIN PRIVATE KEY-----\\n${letters(64)}\\n${letters(20)}\\n-----END PRIVATE KEY-----\\n`.slice(
      0,
      -2,
    ),
  ],
])('a text that resembles a credential: %s', (name, credential) => {
  expect(createRedactor([]).text(`a "${credential}" b`)).toBe(`a "[redacted:${name}]" b`)
  expect(createRedactor([]).text(`a ${credential} b`, 'known')).toBe(`a ${credential} b`)
  const stream = createRedactor([]).stream()
  expect([...`a ${credential} b`].map(piece => stream.push(piece)).join('') + stream.end()).toBe(
    `a [redacted:${name}] b`,
  )
})

test('of a URL the password, and of a Slack webhook what makes it one', () => {
  const { text } = createRedactor([])
  expect(text('see https://me:s3cr3t-pass@host/path.')).toBe(
    'see https://me:[redacted:url_password]@host/path.',
  )
  expect(text('https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX')).toBe(
    'https://[redacted:slack_webhook]',
  )
})

test('of an Azure connection string the key, and of an address its signature', () => {
  const key = `${letters(86)}==`
  const { text } = createRedactor([])
  expect(text(`AccountName=me;AccountKey=${key};Suffix=x`)).toBe(
    'AccountName=me;AccountKey=[redacted:azure_key];Suffix=x',
  )
  expect(text(`"AccountKey=${key}"`)).toBe('"AccountKey=[redacted:azure_key]"')
  expect(text(`AccountKey=${key}`)).toBe('AccountKey=[redacted:azure_key]')
  expect(text(`SharedAccessKey=${letters(43)}=`)).toBe('SharedAccessKey=[redacted:azure_key]')
  expect(text(`https://a/b?sv=1&sig=${letters(43)}%3D&se=2`)).toBe(
    'https://a/b?sv=1&sig=[redacted:azure_signature]&se=2',
  )
  const stream = createRedactor([]).stream()
  expect([...`AccountKey=${key};`].map(piece => stream.push(piece)).join('') + stream.end()).toBe(
    'AccountKey=[redacted:azure_key];',
  )
})

test('hashes, UUIDs, Base64 and identifiers of code stay', () => {
  const pick = pickFrom(14)
  const drawn = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[pick(alphabet.length)]).join('')
  const hex = '0123456789abcdef'
  const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const { text } = createRedactor([])
  for (let n = 0; n < 300; n++) {
    const uuid = [8, 4, 4, 4, 12].map(length => drawn(hex, length)).join('-')
    const sample = [
      drawn(hex, 40),
      drawn(hex, 64),
      uuid,
      drawn(base64, 88),
      `sha512-${drawn(base64, 86)}==`,
      drawn(base64, 400),
    ].join(' ')
    expect(text(sample)).toBe(sample)
  }
  const code =
    'lin_api_client hf_hub_download() SG.Service.Name dp.status.value sb_secret_name ops_eye vcr_cassettes_for_the_test xai-org dapi_v2'
  expect(text(code)).toBe(code)
})

test('what only resembles one stays', () => {
  const harmless = [
    'https://user:password@host postgres://postgres:postgres@db/x https://u:$PASSWORD@h http://localhost:4600/@me',
    'sk-chasing-dot-before-animation-delay task-0123456789-0123456789',
    'npm_config_registry=x AKIA eyJ0 glpat- the -----BEGIN PRIVATE KEY----- header',
    'xoxo-and-more-kisses-for-you the PRIVATE KEY of an asset',
  ]
  for (const text of harmless) expect(createRedactor([]).text(text)).toBe(text)
})
