import {
  packageInText,
  packageOfLibrary,
  packageOfMacro,
  packageOfPerl,
  packageOfPhp,
  packageOfProgram,
} from './debian-packages.ts'

const inDebian = (name: string | null) => (name === null ? '' : ` Debian has it in ${name}.`)
const program = (name: string) => `The program ${name} is not there.${inDebian(packageOfProgram(name))}`
const library = (name: string) => `The library ${name} is not there.${inDebian(packageOfLibrary(name))}`
const ofPerl = (module: string) =>
  `The Perl module ${module} is not there: in Debian it is usually in ${packageOfPerl(module)}.`
const macro = (name: string) =>
  `configure.ac uses ${name}, which is not there.${inDebian(packageOfMacro(name))}`
const ofPhp = (name: string) => `PHP has no extension ${name} here.${inDebian(packageOfPhp(name))}`

/** Messages about missing things. The first group is the name. */
export const MISSING: readonly [RegExp, (name: string) => string][] = [
  // Before programs: an unknown macro stays unchanged in the script that autoconf writes.
  [/configure: line \d{1,6}: `?((?:AX|PKG|AM|LT|IT|GTK)_\w{1,60})(?:\(|: (?:command )?not found)/, macro],
  [
    /Invalid version, need ('[^']{1,60}' \[[^\]\n]{1,60}\] found '[^']{1,30}')/,
    stated => `Another version of a library is needed: ${stated}.`,
  ],
  [
    /Requested ('[^']{1,80}' but version of [^\n]{1,60})/,
    stated => `Another version of a library is needed: ${stated}.`,
  ],
  [
    /(?:^|\n)(?:[^\n:]*(?:sh|bash|env|make(?:\[\d+\])?|xargs|dash): (?:line \d+: |\d+: |1: )?)?['"‘]?([\w.+-]{1,60})['"’]?: (?:command not found|not found|No such file or directory\n[^\n]*Error 127)/,
    program,
  ],
  [/make(?:\[\d+\])?: ([\w./+-]{1,60}): No such file or directory/, program],
  [/Can't exec "([\w.+-]{1,60})"/, program],
  [/possibly undefined macro: (\w{1,60})/, macro],
  [/go\.mod requires go >= ?(\S{1,20})/, version => `Go ${version} or newer is needed.`],
  [/note: module requires Go ([\d.]{1,20})/, version => `Go ${version} or newer is needed.`],
  [/requires rustc (\d[\w.]{1,20})/, version => `Rust ${version} or newer is needed.`],
  [
    /(?:lock file version|edition)[^\n]{0,40}?`?(\w{1,8})`?[^\n]{0,80}(?:requires|not (?:understood|stabilized|supported))/,
    version => `A newer Cargo is needed (${version}).`,
  ],
  [/feature `(edition20\d\d)` is required/, version => `A newer Cargo is needed (${version}).`],
  [/requires a different Python: ([^\n]{1,80})/, wanted => `Another version of Python is needed: ${wanted}.`],
  [
    /(?:invalid (?:target|source) release:?|release version) ['"]?([\d.]{1,8})['"]?/,
    version => `A JDK for Java ${version} is needed.`,
  ],
  [
    /Your Ruby version is [^\n]{1,40}, but your Gemfile specified ([^\n]{1,40})/,
    version => `Ruby ${version} is needed.`,
  ],
  [/CMake ([\d.]{1,12}) or higher is required/, version => `CMake ${version} or newer is needed.`],
  [
    /Meson version is [\d.]{1,20} but project requires ([^\n]{1,20})/,
    version => `Meson ${version.replace(/\.$/, '')} is needed.`,
  ],
  [/Perl v?([\d.]{3,12}) required--this is only/, version => `Perl ${version} or newer is needed.`],
  [
    /(Could not find method \w{1,60}\(\)|Could not determine java version|Unsupported class file major version \d{1,3}|No such property: \w{1,60} for class: org\.gradle)/,
    stated =>
      `The build is for another version of Gradle than the one here, and the repository has no wrapper that brings its own: ${stated}.`,
  ],
  [
    /fatal error: ([\w/.+-]{1,100}\.(?:h|hpp|hh)): No such file/,
    name => `The header ${name} of a library is not there.${inDebian(packageOfLibrary(name))}`,
  ],
  [/Package '?([\w.+-]{1,60})'?,? (?:required by|was not found|not found)/, library],
  [/No package '([\w.+-]{1,60})' found/, library],
  [/ERROR: Dependency ["']([\w.+-]{1,60})["'] not found/i, library],
  [/ERROR: Dependency lookup for ([\w.+-]{1,60}) with method/, library],
  [/ERROR: (?:C|C\+\+) (?:shared or static )?library ['"]([\w.+-]{1,60})['"] not found/, library],
  [/ERROR: Program(?:s or command)? ['"]([\w.+-]{1,60})['"] not found/, program],
  [/ERROR: Unknown compiler\(s\): \[+['"]([\w.+-]{1,40})/, program],
  [
    /Could not find a package configuration file provided by "([\w.+-]{1,60})"/,
    name => `CMake does not find ${name}.${inDebian(packageOfLibrary(name))}`,
  ],
  // Optional features are reported in lines that begin with dashes.
  [
    /(?:^|\n)[^\S\n]*Could NOT find (\w{1,60})/,
    name =>
      `CMake does not find ${name}.${inDebian(packageOfLibrary(name) ?? packageOfProgram(name.toLowerCase()))}`,
  ],
  [
    /configure: error: ([^\n]{0,160}(?:not found|missing|required|needed|install|no acceptable)[^\n]{0,100})/i,
    text => `configure says: ${text}${/[.!]$/.test(text) ? '' : '.'}${inDebian(packageInText(text))}`,
  ],
  [
    /(?:No CMAKE_(C|CXX)_COMPILER could be found)/,
    name => `There is no compiler for ${name}.${inDebian(name === 'C' ? 'gcc' : 'g++')}`,
  ],
  [/cannot find -l([\w.+-]{1,60})/, library],
  [
    /linker `([\w-]{1,30})` not found/,
    name => `The linker ${name} is not there.${inDebian(packageOfProgram(name))}`,
  ],
  [/: (?:line )?\d{1,5}: ([\w.+-]{1,60}): (?:command )?not found/, program],
  [/you may need to install the ([\w:]{1,80}) module/, ofPerl],
  [/Can't locate ([\w/]{1,80})\.pm in @INC/, path => ofPerl(path.replaceAll('/', '::'))],
  [/The ([\w-]{1,40})(?: OR [\w-]{1,40})? extension is required/, ofPhp],
  [/requires? (?:PHP extension )?ext-([\w-]{1,40})/, ofPhp],
  [/requires the "([\w-]{1,40})" extensions?/, ofPhp],
  [
    /requires php ([^\n]{1,40}?) but your php version/,
    wanted => `Another version of PHP is needed: ${wanted}.`,
  ],
  [
    /NoSuchFileException: (\/(?:etc|usr)\/[\w./-]{1,100})/,
    path => `The program reads ${path}, which sandboxes do not show.`,
  ],
  [
    /(ensurepip) is not\s+available/,
    () => 'Python cannot create virtual environments: Debian has that in python3-venv.',
  ],
]
