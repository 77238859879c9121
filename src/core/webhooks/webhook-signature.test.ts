import { expect, test } from 'vitest'
import { signatureHeader, signingKey } from './webhook-signature.ts'

test('the signature is that of the published example of Standard Webhooks', () => {
  // From the reference implementations' tests.
  const header = signatureHeader(
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1_614_265_330,
    '{"test": 2432232314}',
  )
  expect(header).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('each secret signs, and one without the prefix whsec_ signs as it is', () => {
  expect(signatureHeader(['a', 'b'], 'm', 1, '{}').split(' ')).toHaveLength(2)
  expect(signingKey('plain words').toString()).toBe('plain words')
  for (const secret of ['whsec_', 'whsec_no base64!', 'whsec_abc'])
    expect(signingKey(secret).toString()).toBe(secret)
  expect(signingKey('whsec_AAEC')).toEqual(Buffer.from([0, 1, 2]))
})
