import { expect, test } from 'vitest'
import { appManifest, manifestUrl } from './app-manifest.ts'

test('the webhooks of an app come to its connection, where GitHub can reach the service', () => {
  const of = (base_url: string) => appManifest({ name: 'x'.repeat(50), base_url, connection_id: 7 })
  expect(of('https://agents.example.org')).toMatchObject({
    name: 'x'.repeat(34),
    public: false,
    hook_attributes: { url: 'https://agents.example.org/hooks/github/7', active: true },
    default_events: expect.arrayContaining(['issue_comment', 'check_run', 'push']),
  })
  expect(of('http://127.0.0.1:4600')).not.toHaveProperty('hook_attributes')
  expect(of('http://127.0.0.1:4600')).not.toHaveProperty('default_events')
})

test('an app belongs to the signed-in user, or to an organization', () => {
  expect(manifestUrl('https://github.com', null, 'a b')).toBe(
    'https://github.com/settings/apps/new?state=a%20b',
  )
  expect(manifestUrl('https://ghe.example.org', 'a/b', 's')).toBe(
    'https://ghe.example.org/organizations/a%2Fb/settings/apps/new?state=s',
  )
})
