import {
  packageInText,
  packageOfLibrary,
  packageOfMacro,
  packageOfPerl,
  packageOfPhp,
  packageOfProgram,
} from './debian-packages.ts'
import table from './missing-packages.json' with { type: 'json' }

/**
 * A row of the table beside this file: a message about something that is missing. The first group of the
 * pattern is its name. The first row that matches decides.
 */
type Row = {
  pattern: string
  ignore_case?: boolean
  /** What is missing: a name of `kinds`, which add the Debian package that has it. */
  missing?: string
  /** The sentence about it, if that is enough; `$1` is the name. */
  detail?: string
}

const inDebian = (name: string | null) => (name === null ? '' : ` Debian has it in ${name}.`)
const ofPerl = (module: string) =>
  `The Perl module ${module} is not there: in Debian it is usually in ${packageOfPerl(module)}.`

export const kinds: Record<string, (name: string) => string> = {
  program: name => `The program ${name} is not there.${inDebian(packageOfProgram(name))}`,
  library: name => `The library ${name} is not there.${inDebian(packageOfLibrary(name))}`,
  linker: name => `The linker ${name} is not there.${inDebian(packageOfProgram(name))}`,
  header: name => `The header ${name} of a library is not there.${inDebian(packageOfLibrary(name))}`,
  compiler: name => `There is no compiler for ${name}.${inDebian(name === 'C' ? 'gcc' : 'g++')}`,
  macro: name => `configure.ac uses ${name}, which is not there.${inDebian(packageOfMacro(name))}`,
  cmake_package: name => `CMake does not find ${name}.${inDebian(packageOfLibrary(name))}`,
  cmake_module: name =>
    `CMake does not find ${name}.${inDebian(packageOfLibrary(name) ?? packageOfProgram(name.toLowerCase()))}`,
  configure_error: text =>
    `configure says: ${text}${/[.!]$/.test(text) ? '' : '.'}${inDebian(packageInText(text))}`,
  perl_module: ofPerl,
  perl_file: path => ofPerl(path.replaceAll('/', '::')),
  php_extension: name => `PHP has no extension ${name} here.${inDebian(packageOfPhp(name))}`,
}

export const MISSING = (table as Row[]).map(
  ({ pattern, ignore_case, missing = '', detail }): [RegExp, (name: string) => string] => [
    new RegExp(pattern, ignore_case ? 'gi' : 'g'),
    kinds[missing] ?? (name => (detail ?? '').replaceAll('$1', () => name)),
  ],
)
