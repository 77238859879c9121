import packages from './packages.json' with { type: 'json' }

const programs = new Map(Object.entries(packages.programs))
const extensions = new Map(Object.entries(packages.php_extensions))

/** Modules of the Perl core that Debian's minimal Perl omits. */
const OF_PERL =
  /^(?:ExtUtils|Test::(?:More|Harness|Simple|Builder)|Module::(?:Load|CoreList)|Pod::|CPAN|TAP::|App::Prove)/

export const packageOfProgram = (name: string): string | null => programs.get(name) ?? null

/**
 * Returns the Debian package that provides a library, header or pkg-config module, regardless of case; null:
 * it is not known.
 */
export function packageOfLibrary(name: string): string | null {
  const small = name.toLowerCase()
  const named = Object.entries(packages.libraries).find(([, names]) =>
    names.some(one =>
      one.endsWith('/') ? small.startsWith(one.toLowerCase()) : small === one.toLowerCase(),
    ),
  )
  return named?.[0] ?? null
}

/** Returns the package of the first word of a sentence that names a library or a program. */
export function packageInText(text: string): string | null {
  const words = text.split(/[^\w.+/-]+/).map(word => word.replace(/^-l|[.]$/g, ''))
  return (
    words
      .map(word => (word.length < 2 ? null : (packageOfLibrary(word) ?? packageOfProgram(word))))
      .find(name => name !== null) ?? null
  )
}

export const packageOfMacro = (name: string): string | null =>
  packages.macros.find(row => new RegExp(row.pattern).test(name))?.package ?? null

export const packageOfPerl = (module: string): string =>
  OF_PERL.test(module) ? 'perl' : `lib${module.toLowerCase().replaceAll('::', '-').replaceAll('_', '-')}-perl`

export const packageOfPhp = (extension: string): string =>
  extensions.get(extension.toLowerCase()) ?? `php-${extension.toLowerCase()}`
