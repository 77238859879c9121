import { expect, test } from 'vitest'
import { z } from 'zod'
import { isPattern } from '../../../test/patterns/is-pattern.ts'
import { packageOfLibrary, packageOfMacro, packageOfPhp, packageOfProgram } from './debian-packages.ts'
import packages from './packages.json' with { type: 'json' }
import { missingPythonPackages } from './python-modules.ts'

/**
 * A name of Debian's archive or of PyPI, the latter with a version in quotes for the shell. Others could
 * bring words into a command.
 */
const Package = z.string().regex(/^(?:[A-Za-z0-9][A-Za-z0-9+._-]*|'[a-z]+<\d+')$/)
const Names = z.array(z.string().min(1)).nonempty()
const Patterns = z
  .array(z.strictObject({ pattern: z.string().min(1).refine(isPattern), package: Package }))
  .nonempty()
const Packages = z.strictObject({
  libraries: z.record(Package, Names),
  programs: z.record(z.string().min(1), Package),
  macros: Patterns,
  php_extensions: z.record(z.string().regex(/^[a-z_]+$/), Package),
  python_modules: z.record(z.string().regex(/^\w+$/), Package),
  pytest_plugins: Patterns,
})

test('packages.json has the form that its readers expect', () => {
  expect(Packages.safeParse(packages).error?.issues).toBeUndefined()
})

test('the form refuses words of a shell, patterns that do not compile and unknown tables', () => {
  const wrong = [
    { ...packages, programs: { cc: 'gcc; reboot' } },
    { ...packages, macros: [{ pattern: '(', package: 'libtool' }] },
    { ...packages, libraries: { 'zlib1g-dev': [] } },
    { ...packages, php_extension: {} },
  ]
  expect(wrong.map(one => Packages.safeParse(one).success)).toEqual([false, false, false, false])
})

test('each table is read, and a name of Object.prototype is not a row', () => {
  expect(packageOfLibrary('openssl/evp.h')).toBe('libssl-dev')
  expect(packageOfProgram('yacc')).toBe('bison')
  expect(packageOfMacro('AX_PTHREAD')).toBe('autoconf-archive')
  expect(packageOfPhp('PDO_MySQL')).toBe('php-mysql')
  expect(missingPythonPackages("No module named 'yaml'\nfixture 'mocker' not found")).toEqual([
    'PyYAML',
    'pytest-mock',
  ])
  expect([packageOfProgram('constructor'), packageOfPhp('constructor')]).toEqual([null, 'php-constructor'])
  expect(missingPythonPackages("No module named 'constructor'")).toEqual([])
})
