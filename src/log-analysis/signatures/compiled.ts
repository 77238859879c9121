import type { Signature } from './signature.ts'

/** Go, Rust, Java and related languages, C and C++, and their build tools. */
export const compiledSignatures: readonly Signature[] = [
  {
    code: 'go_module_missing',
    pattern:
      /no required module provides package ([^\s;:]{1,200})|cannot find module providing package ([^\s;:]{1,200})|missing go\.sum entry for (?:module providing package |go\.mod file.{0,20})?([^\s;]{0,200})|: package (\S{1,200}) is not in (?:std|GOROOT)/,
    title: 'A Go package is not found',
    cause: 'go.mod or go.sum has no module for `$1$2$3$4`.',
    remedy: '`go mod tidy`, or `go get` of the module, and commit go.mod and go.sum.',
  },
  {
    code: 'go_no_module',
    pattern:
      /go: go\.mod file not found|go: cannot find main module|directory prefix \S{1,200} does not contain main module|no Go files in (\S{1,200})/,
    title: 'This is no Go module',
    cause: 'The command ran in a folder without a module, or without Go files.',
    remedy: 'Change to the folder with go.mod first, or `go mod init`.',
  },
  {
    code: 'go_version',
    pattern:
      /go: (?:errors parsing|download) \S{0,200}(?:invalid go version|toolchain)|go\.mod requires go >= ([\d.]{1,20})|note: module requires Go ([\d.]{1,20})|invalid go version '([^']{1,40})'/,
    title: 'It wants another Go',
    cause: 'go.mod requires Go $1$2$3, and this sandbox has an older one.',
    remedy: 'Use that version, or lower the `go` line of go.mod if the code allows it.',
  },
  {
    code: 'go_vendor',
    pattern: /go: inconsistent vendoring|is explicitly required in go\.mod, but not marked as explicit in vendor\/modules\.txt/,
    title: 'The vendor folder does not match go.mod',
    cause: 'go.mod was changed and `vendor` was not.',
    remedy: '`go mod vendor`, and commit it.',
  },
  {
    code: 'go_build',
    pattern: /^(?:vet: )?(\.{0,2}[\w./-]{1,200}\.go:\d{1,7}(?::\d{1,5})?): (.{1,300})/,
    title: 'Go does not compile',
    cause: '$2',
    remedy: 'Fix the location that the compiler names: $1',
  },
  {
    code: 'go_panic',
    pattern: /^panic: (.{1,300})|^fatal error: (all goroutines are asleep - deadlock!|concurrent map .{1,60})/,
    title: 'A Go program panicked',
    cause: '$1$2',
    remedy: 'Go to the first location of the goroutine below it that is a file of the repository.',
  },
  {
    code: 'rust_no_project',
    pattern: /error: could not find `Cargo\.toml` in `([^`]{1,300})`/,
    title: 'There is no crate to build here',
    cause: 'Neither this folder nor one above it has a Cargo.toml: $1',
    remedy: 'Change to the folder of the crate first.',
  },
  {
    code: 'rust_dependency',
    pattern:
      /^error: no matching package (?:named|found)[: ] ?`?([^`]{0,100})|^error: failed to select a version for (.{1,200})|^error: failed to (?:get|download|load source for dependency) `?([^`]{1,100})/,
    title: 'cargo cannot get a dependency',
    cause: 'No version of $1$2$3 fits, or the registry could not be reached.',
    remedy: 'Look for refusals of the network; otherwise correct the version in Cargo.toml.',
  },
  {
    code: 'rust_lock',
    pattern:
      /the lock file \S{1,300} needs to be updated but --(?:locked|frozen) was passed|cannot update the lock file \S{1,300} because --(?:locked|frozen)/,
    title: 'Cargo.lock does not match Cargo.toml',
    cause: 'Cargo.toml was changed and its lockfile was not.',
    remedy: '`cargo update --workspace`, or build once without `--locked`, and commit Cargo.lock.',
  },
  {
    code: 'rust_edition',
    pattern:
      /feature `(edition20\d\d)` is required|this version of Cargo is older than the `(20\d\d)` edition|requires rustc ([\d.]{1,20})|lock file version `?(\d)`? (?:was found, but this version|requires)|supported `?edition`? values are/,
    title: 'It wants another Rust',
    cause: 'The crate needs a newer toolchain than this sandbox has: $1$2$3$4',
    remedy: 'Use that toolchain, or versions of the crates that this one builds.',
  },
  {
    code: 'rust_linker',
    pattern: /^error: linker `([^`]{1,100})` not found|^error: linking with `([^`]{1,100})` failed/,
    title: 'Rust cannot link',
    cause: 'The linker `$1$2` is missing or refused.',
    remedy: 'Install a C compiler in the sandbox; the note below names the missing library.',
  },
  {
    code: 'rust_borrow',
    pattern: /^error\[(E0(?:382|499|502|503|505|506|507|515|597|716|521|373))\]: (.{1,300})/,
    title: 'Rust refuses a borrow',
    cause: '$1: $2',
    remedy: 'The location is on the line `-->` below it; `rustc --explain $1` explains the rule.',
  },
  {
    code: 'rust_compile',
    pattern:
      /^error\[(E\d{4})\]: (.{1,300})|^error: (?!could not compile|aborting|test failed|process didn't|linking|linker|no matching|failed to|\d+ target)(?:cannot find (.{1,200})|expected (.{1,200})|unexpected (.{1,200})|mismatched (.{1,100})|this file contains an unclosed delimiter)/,
    title: 'Rust does not compile',
    cause: '$1 $2$3$4$5',
    remedy: 'The location is on the line `-->` below it.',
  },
  {
    code: 'rust_panic',
    pattern: /^thread '([^']{1,200})'(?: \(\d+\))? (?:has overflowed its stack|panicked at (.{1,300}))/,
    title: 'A Rust program panicked',
    cause: 'Thread `$1` at $2',
    remedy: 'Go to the location that it names; RUST_BACKTRACE=1 prints the call stack.',
    in_tests: true,
  },
  {
    code: 'java_class_version',
    pattern:
      /UnsupportedClassVersionError|class file has wrong version ([\d.]{1,10})|Unsupported class file major version (\d{1,3})|error: (?:invalid (?:source|target) release: (\S{1,20})|release version (\S{1,20}) not supported)|invalid target release: (\S{1,20})/,
    title: 'It wants another Java',
    cause: 'Code was compiled for, or is to be compiled for, a newer Java than this one: $1$2$3$4$5',
    remedy: 'Use that JDK (JAVA_HOME), or set the release in the build to what this one knows.',
  },
  {
    code: 'java_home',
    pattern:
      /JAVA_HOME is (?:not set|set to an invalid directory)|The JAVA_HOME environment variable is not defined correctly|No compiler is provided in this environment/,
    title: 'There is no JDK',
    cause: 'The build looks for a JDK at JAVA_HOME or on the path and finds none, or only a runtime.',
    remedy: 'Use a sandbox with a JDK, and set JAVA_HOME to it.',
  },
  {
    code: 'java_no_project',
    pattern: /there is no POM in this directory|Directory '[^']{1,300}' does not contain a Gradle build/,
    title: 'There is no project to build here',
    cause: 'The command ran in a folder without pom.xml or Gradle build.',
    remedy: 'Change to the folder of the project first.',
  },
  {
    code: 'java_dependency',
    pattern:
      /Could not resolve dependencies for project \S{1,200}(?:.{0,300}?artifacts? (\S{1,200}))?|Could not (?:find|resolve|get|transfer) (?:artifact )?([\w.-]{1,100}:[\w.-]{1,100}(?::[\w.-]{1,60}){0,3})|> Could not resolve (\S{1,200})|Non-resolvable (?:parent POM|import POM)|Plugin \S{1,200} or one of its dependencies could not be resolved/,
    title: 'A dependency cannot be had',
    cause: 'No repository that could be reached has $1$2$3.',
    remedy: 'Look for refusals of the network; otherwise correct the version. Offline builds (`-o`) need it in the local repository.',
  },
  {
    code: 'java_compile',
    pattern:
      /^(?:\[ERROR\] )?(\S{1,300}\.(?:java|kt|scala|groovy)(?::\[?\d{1,7}(?:,\d{1,5}\])?(?::\d{1,5})?)):? (?:error: )?(.{1,300})|^e: (?:file:\/\/)?(\S{1,300}\.kt:\d{1,7}:\d{1,5}) (.{1,300})/,
    title: 'Java does not compile',
    cause: '$2$4',
    remedy: 'Fix the location that the compiler names: $1$3',
  },
  {
    code: 'java_class_not_found',
    pattern: /(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$/]{1,200})|Could not find or load main class (\S{1,200})/,
    title: 'A Java class is not found',
    cause: '`$1$2` is not on the class path.',
    remedy: 'Build first, and check the dependency that holds it, and its scope.',
  },
  {
    code: 'java_out_of_memory',
    pattern: /java\.lang\.OutOfMemoryError: (.{1,100})|There is insufficient memory for the Java Runtime Environment/,
    title: 'Java ran out of memory',
    cause: 'The virtual machine needed more memory than it may have: $1',
    remedy: 'Set -Xmx within what the sandbox may take, and fewer workers and forks.',
  },
  {
    code: 'missing_header',
    pattern: /fatal error: ([\w./+-]{1,200}): No such file or directory|fatal error: '([^']{1,200})' file not found/,
    title: 'A header is missing',
    cause: 'The compiler does not find `$1$2`: of a library whose development files are not there, or on another path.',
    remedy: 'Use a sandbox with the development package of that library, or name its folder with -I.',
  },
  {
    code: 'undefined_reference',
    pattern:
      /undefined reference to [`'"‘]?([^'`"’]{1,200})|Undefined symbols for architecture|ld: symbol\(s\) not found|unresolved external symbol (\S{1,200})/,
    title: 'The linker misses a symbol',
    cause: '`$1$2` is declared and used, and defined in nothing that is linked.',
    remedy: 'Link the library or object that defines it, after what uses it; or define it.',
  },
  {
    code: 'missing_library',
    pattern: /(?:cannot find|library not found for|unable to find library) -l([\w.+-]{1,100})/,
    title: 'A library to link is missing',
    cause: 'The linker does not find `lib$1`.',
    remedy: 'Use a sandbox with its development package, or name its folder with -L.',
  },
  {
    code: 'multiple_definition',
    pattern: /multiple definition of [`'"‘]?([^'`"’]{1,200})|duplicate symbol '?([^' ]{1,200})/,
    title: 'A symbol is defined twice',
    cause: '`$1$2` is defined in two of the objects that are linked.',
    remedy: 'Define it in one, and declare it `extern` in the header.',
  },
  {
    code: 'c_compile',
    pattern: /^(\S{1,300}\.(?:c|cc|cpp|cxx|h|hh|hpp|m|mm|f90|cu):\d{1,7}(?::\d{1,5})?): (?:fatal )?error: (.{1,300})/,
    title: 'C or C++ does not compile',
    cause: '$2',
    remedy: 'Fix the location that the compiler names: $1',
  },
  {
    code: 'no_rule_to_make',
    pattern:
      /No rule to make target [`'"‘]([^'`"’]{1,200})['’"](?:, needed by [`'"‘]([^'`"’]{1,200}))?|\*\*\* No targets specified and no makefile found|missing and no known rule to make it/,
    title: 'make does not know how to make something',
    cause: 'There is no rule for `$1`, and no such file: misspelt, not generated yet, or in another folder.',
    remedy: 'Check the name, and what has to run before (say `./configure`). Needed by: $2',
  },
  {
    code: 'makefile_syntax',
    pattern:
      /^(\S{1,200}:\d{1,6}): \*\*\* (missing separator|commands commence before first target|multiple target patterns|.{0,60}unterminated.{0,60})/,
    title: 'The makefile is not valid',
    cause: '$2: recipes begin with a tab, not with blanks.',
    remedy: 'Correct it at $1.',
  },
  {
    code: 'cmake_missing',
    pattern:
      /Could NOT find (\S{1,100})|Could not find a package configuration file provided by "([^"]{1,100})"|By not providing "(?:Find(\w{1,100})|\w{1,100}Config)\.cmake"|CMake Error: The source directory "([^"]{1,200})" does not appear to contain CMakeLists/,
    title: 'CMake does not find something',
    cause: 'There is no `$1$2$3$4` where CMake looks.',
    remedy: 'Use a sandbox with its development package, or set CMAKE_PREFIX_PATH.',
  },
  {
    code: 'cmake_version',
    pattern: /CMake ([\d.]{1,20}) or higher is required|Compatibility with CMake < ([\d.]{1,10}) has been removed/,
    title: 'It wants another CMake',
    cause: 'CMakeLists.txt does not go with this version of CMake: $1$2',
    remedy:
      'Use a version that it allows, or change `cmake_minimum_required`; -DCMAKE_POLICY_VERSION_MINIMUM=3.5 is a way round for old ones.',
  },
  {
    code: 'configure_missing',
    pattern:
      /configure: error: (.{1,300})|No package '([^']{1,100})' found|Package (\S{1,100}) was not found in the pkg-config search path|Error: (\w{1,40}[_-]config) executable not found|meson\.build:\d{1,6}:\d{1,5}: ERROR: (.{1,200})/,
    title: 'configure does not find something',
    cause: 'It says that this is missing: $1$2$3$4$5',
    remedy: 'Use a sandbox with the development package that it names, or switch off what needs it.',
  },
  {
    code: 'aclocal_missing',
    pattern:
      /error: possibly undefined macro: (\S{1,100})|Can't exec "(aclocal|autoconf|automake|libtoolize|autopoint)"|(autoreconf|aclocal|automake-[\d.]+): (?:command )?not found/,
    title: 'Tools of autoconf are missing',
    cause: '`$1$2$3` is not in this sandbox.',
    remedy: 'Use a sandbox with autoconf, automake, libtool and pkg-config.',
  },
  {
    code: 'dotnet_compile',
    pattern:
      /^(\S{1,300}\.(?:cs|fs|vb)\(\d{1,7},\d{1,5}\)): error ((?:CS|FS|BC)\d{1,5}): (.{1,300})|error (NETSDK\d{4}|NU\d{4}|MSB\d{4}): (.{1,300})/,
    title: '.NET does not build',
    cause: '$2$4: $3$5',
    remedy: 'Fix the location that the compiler names: $1',
  },
  {
    code: 'assertion_failed',
    pattern: /Assertion [`'‘"](.{1,200})['’"] failed|: assertion failed: (.{1,200})|AddressSanitizer: (\S{1,60})|runtime error: (.{1,200})/,
    title: 'A program failed an assertion of its own',
    cause: '$1$2$3$4',
    remedy: 'Go to the location that is printed with it.',
  },
  {
    code: 'build_failed',
    pattern:
      /^(?:g?make(?:\[\d{1,3}\])?: \*\*\* \[(.{1,200})\] Error (\d{1,3})|\[ERROR\] Failed to execute goal (\S{1,200})|FAILURE: Build failed with an exception|error: could not compile `([^`]{1,100})`|ninja: build stopped)/,
    title: 'The build failed',
    cause: 'One of its steps failed, and the output before explains why: $1$3$4',
    remedy: 'Fix the error that is printed before it.',
    general: true,
  },
]
