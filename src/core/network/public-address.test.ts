import { describe, expect, test } from 'vitest'
import { addressAllowed, addressNeverAllowed, isPrivateHost } from './public-address.ts'

describe('addressAllowed', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.170',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '0:0:0:0:0:ffff:7f00:1',
    '64:ff9b::169.254.169.254',
    '64:ff9b::a00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '::ffff:0:127.0.0.1',
    '64:ff9b:0:0:0:1:7f00:1',
    '::2:0:0:1',
    '4000::1',
    '',
    'localhost',
    '0x7f.1',
    '2130706433',
    '127.1',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '64:ff9b::a83f:8110',
  ])('%s cannot be connected to', ip => expect(addressAllowed(ip)).toBe(false))

  test.each([
    '1.1.1.1',
    '140.82.121.3',
    '172.32.0.1',
    '100.128.0.1',
    '2606:50c0:8000::153',
    '::ffff:140.82.121.3',
    '64:ff9b::140.82.121.3',
    '2a00:1450:4001::1',
  ])('%s is public', ip => expect(addressAllowed(ip)).toBe(true))
})

describe('addressNeverAllowed', () => {
  test.each([
    '169.254.169.254',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fd00:42::42',
    'fe80::a9fe:a9fe%eth0',
    '::ffff:169.254.169.254',
    '::169.254.169.254',
    '::ffff:0:169.254.169.254',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::169.254.169.254',
    '64:ff9b:1:1:2:3:a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '0.0.0.0',
    'ff02::1',
    '169.254',
    'localhost',
  ])('connections to %s are never allowed', ip => expect(addressNeverAllowed(ip)).toBe(true))

  test.each([
    '127.0.0.1',
    '10.0.0.1',
    '::1',
    'fd12::1',
    '64:ff9b:1::10.0.0.1',
    '2002:a00:1::',
    '2606:50c0:8000::153',
    '1.1.1.1',
  ])('%s can be', ip => expect(addressNeverAllowed(ip)).toBe(false))
})

describe('isPrivateHost', () => {
  test.each([
    'localhost',
    'LOCALHOST.',
    'db.localhost',
    'printer.local',
    'metadata.google.internal',
    '127.0.0.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '10.0.0.1',
  ])('%s is', host => expect(isPrivateHost(host)).toBe(true))
  test.each(['example.org', 'localhost.example.org', 'internal', '1.1.1.1', '[2606:50c0:8000::153]'])(
    '%s is not',
    host => expect(isPrivateHost(host)).toBe(false),
  )
})
