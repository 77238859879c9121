/**
 * Libraries whose other names differ from that of Debian's package: the package, then names in pkg-config, CMake and the linker, and
 * headers.
 */
const LIBRARIES: readonly (readonly [string, ...string[]])[] = [
  ['zlib1g-dev', 'zlib', 'z', 'zlib.h'],
  ['libssl-dev', 'openssl', 'libssl', 'libcrypto', 'ssl', 'crypto', 'openssl/'],
  ['libcurl4-openssl-dev', 'libcurl', 'curl', 'curl/'],
  ['libncurses-dev', 'ncurses', 'ncursesw', 'curses', 'tinfo', 'ncurses.h', 'curses.h', 'term.h'],
  ['libreadline-dev', 'readline', 'readline/'],
  ['libsqlite3-dev', 'sqlite3', 'sqlite', 'sqlite3.h'],
  ['libpng-dev', 'libpng', 'libpng16', 'png', 'png.h'],
  ['libjpeg-dev', 'libjpeg', 'jpeg', 'libturbojpeg', 'jpeglib.h'],
  ['libtiff-dev', 'libtiff-4', 'tiff', 'tiffio.h'],
  ['libxml2-dev', 'libxml-2.0', 'libxml2', 'xml2', 'libxml/'],
  ['libffi-dev', 'libffi', 'ffi', 'ffi.h'],
  ['libexpat1-dev', 'expat', 'expat.h'],
  ['libbz2-dev', 'bzip2', 'bz2', 'bzlib.h'],
  ['liblzma-dev', 'liblzma', 'lzma', 'lzma.h'],
  ['libzstd-dev', 'libzstd', 'zstd', 'zstd.h'],
  ['liblz4-dev', 'liblz4', 'lz4', 'lz4.h'],
  ['uuid-dev', 'uuid', 'libuuid', 'uuid/'],
  ['libgmp-dev', 'gmp', 'gmp.h'],
  ['libpcre2-dev', 'libpcre2-8', 'pcre2', 'pcre2.h'],
  ['libpcre3-dev', 'libpcre', 'pcre', 'pcre.h'],
  ['libyaml-dev', 'yaml-0.1', 'libyaml', 'yaml', 'yaml.h'],
  ['libjansson-dev', 'jansson', 'jansson.h'],
  ['libjson-c-dev', 'json-c', 'json-c/'],
  ['libonig-dev', 'oniguruma', 'onig', 'oniguruma.h'],
  ['libcap-dev', 'libcap', 'cap', 'sys/capability.h'],
  ['libseccomp-dev', 'libseccomp', 'seccomp', 'seccomp.h'],
  ['libselinux1-dev', 'libselinux', 'selinux', 'selinux/'],
  ['libpam0g-dev', 'pam', 'security/pam_appl.h'],
  ['libacl1-dev', 'libacl', 'acl', 'sys/acl.h'],
  ['libattr1-dev', 'libattr', 'attr', 'attr/'],
  ['libevent-dev', 'libevent', 'event', 'event2/', 'event.h'],
  ['libuv1-dev', 'libuv', 'uv', 'uv.h'],
  ['libev-dev', 'libev', 'ev.h'],
  ['libglib2.0-dev', 'glib-2.0', 'gobject-2.0', 'gio-2.0', 'glib', 'glib.h'],
  ['libgtk-3-dev', 'gtk+-3.0', 'gtk/'],
  ['libcairo2-dev', 'cairo', 'cairo.h'],
  ['libfreetype-dev', 'freetype2', 'freetype', 'ft2build.h'],
  ['libfontconfig-dev', 'fontconfig', 'fontconfig/'],
  ['libx11-dev', 'x11', 'X11/'],
  ['libgl-dev', 'gl', 'opengl', 'GL/'],
  ['libsdl2-dev', 'sdl2', 'SDL2/', 'SDL.h'],
  ['libwayland-dev', 'wayland-scanner', 'wayland-client', 'wayland-server', 'wayland-client.h'],
  ['libdbus-1-dev', 'dbus-1', 'dbus', 'dbus/'],
  ['libsystemd-dev', 'libsystemd', 'systemd/'],
  ['libudev-dev', 'libudev', 'udev', 'libudev.h'],
  ['libusb-1.0-0-dev', 'libusb-1.0', 'libusb.h'],
  ['libpcap-dev', 'libpcap', 'pcap', 'pcap.h', 'pcap/'],
  ['libmagic-dev', 'libmagic', 'magic', 'magic.h'],
  ['libarchive-dev', 'libarchive', 'archive', 'archive.h'],
  ['libpq-dev', 'libpq', 'pq', 'postgresql', 'libpq-fe.h'],
  ['default-libmysqlclient-dev', 'mysqlclient', 'mysql', 'mysql.h', 'mysql/'],
  ['libboost-all-dev', 'boost', 'boost/'],
  ['libgtest-dev', 'gtest', 'gtest_main', 'gtest/'],
  ['libgmock-dev', 'gmock', 'gmock/'],
  ['catch2', 'catch2', 'catch2/', 'catch.hpp'],
  ['check', 'check', 'check.h'],
  ['libcmocka-dev', 'cmocka', 'cmocka.h'],
  ['libcunit1-dev', 'cunit', 'CUnit/'],
  ['libsodium-dev', 'libsodium', 'sodium', 'sodium.h'],
  ['libgcrypt20-dev', 'libgcrypt', 'gcrypt', 'gcrypt.h'],
  ['libgnutls28-dev', 'gnutls', 'gnutls/'],
  ['libelf-dev', 'libelf', 'elf', 'libelf.h', 'gelf.h'],
  ['libnl-3-dev', 'libnl-3.0', 'netlink/'],
  ['libfuse3-dev', 'fuse3', 'fuse3/'],
  ['libasound2-dev', 'alsa', 'asound', 'alsa/'],
  ['libpulse-dev', 'libpulse', 'pulse/'],
  ['libtalloc-dev', 'talloc', 'talloc.h'],
  ['liblua5.4-dev', 'lua', 'lua5.4', 'lua.h', 'lua.hpp'],
  ['libprotobuf-dev', 'protobuf', 'google/protobuf/'],
  ['libeigen3-dev', 'eigen3', 'Eigen/'],
  ['libfmt-dev', 'fmt', 'fmt/'],
  ['libspdlog-dev', 'spdlog', 'spdlog/'],
  ['nlohmann-json3-dev', 'nlohmann_json', 'nlohmann/'],
  ['python3-dev', 'python3', 'python3-embed', 'python.h'],
  ['ruby-dev', 'ruby.h'],
  ['libperl-dev', 'EXTERN.h', 'perl.h'],
  ['default-jdk', 'jni', 'jni.h', 'javac'],
]

/** Programs whose Debian package has another name. */
const PROGRAMS: { [program: string]: string } = {
  ...{ cc: 'gcc', 'c++': 'g++', c99: 'gcc', gfortran: 'gfortran', clang: 'clang', 'clang++': 'clang', tclsh: 'tcl', wish: 'tk' },
  ...{ lex: 'flex', flex: 'flex', yacc: 'bison', bison: 'bison', nasm: 'nasm', yasm: 'yasm', ragel: 'ragel', gperf: 'gperf', swig: 'swig' },
  ...{ autoconf: 'autoconf', autoheader: 'autoconf', autoreconf: 'autoconf', aclocal: 'automake', automake: 'automake' },
  ...{ libtoolize: 'libtool', libtool: 'libtool-bin', autopoint: 'autopoint', gettext: 'gettext', msgfmt: 'gettext', xgettext: 'gettext' },
  ...{ gtkdocize: 'gtk-doc-tools', intltoolize: 'intltool', 'pkg-config': 'pkgconf', pkgconf: 'pkgconf', m4: 'm4', help2man: 'help2man' },
  ...{
    makeinfo: 'texinfo',
    pod2man: 'perl',
    asciidoc: 'asciidoc',
    asciidoctor: 'asciidoctor',
    xsltproc: 'xsltproc',
    xmllint: 'libxml2-utils',
  },
  ...{ doxygen: 'doxygen', ronn: 'ronn', 'go-md2man': 'go-md2man', pandoc: 'pandoc', scdoc: 'scdoc', 'sphinx-build': 'python3-sphinx' },
  ...{ kyua: 'kyua', bats: 'bats', shellcheck: 'shellcheck', valgrind: 'valgrind', expect: 'expect', runtest: 'dejagnu', lcov: 'lcov' },
  ...{
    cmake: 'cmake',
    meson: 'meson',
    ninja: 'ninja-build',
    make: 'make',
    gmake: 'make',
    scons: 'scons',
    ant: 'ant',
    sbt: 'sbt',
    bc: 'bc',
  },
  ...{
    unzip: 'unzip',
    zip: 'zip',
    xz: 'xz-utils',
    curl: 'curl',
    wget: 'wget',
    jq: 'jq',
    rsync: 'rsync',
    file: 'file',
    xxd: 'xxd',
    time: 'time',
  },
  ...{ cargo: 'cargo', rustc: 'rustc', go: 'golang-go', java: 'default-jdk', javac: 'default-jdk', mvn: 'maven', gradle: 'gradle' },
  ...{
    php: 'php-cli',
    composer: 'composer',
    phpunit: 'phpunit',
    ruby: 'ruby',
    bundle: 'ruby-bundler',
    rake: 'rake',
    rspec: 'ruby-rspec-core',
  },
  ...{ perl: 'perl', prove: 'perl', cpanm: 'cpanminus', python: 'python-is-python3', python3: 'python3', pip: 'python3-pip', tox: 'tox' },
  ...{
    pytest: 'python3-pytest',
    nosetests: 'python3-nose',
    nose2: 'python3-nose2',
    nox: 'python3-nox',
    cython: 'cython3',
    protoc: 'protobuf-compiler',
  },
  ...{ 'wayland-scanner': 'libwayland-bin', 'glib-compile-resources': 'libglib2.0-dev-bin', convert: 'imagemagick', dot: 'graphviz' },
}

/** Macros of configure.ac by the package that provides them. */
const MACROS: [RegExp, string][] = [
  [/^PKG_/, 'pkgconf'],
  [/^(?:LT_|AC_PROG_LIBTOOL|AC_LIBTOOL|AM_PROG_LIBTOOL)/, 'libtool'],
  [/^AX_/, 'autoconf-archive'],
  [/^AM_(?:GNU_GETTEXT|ICONV|NLS)/, 'gettext'],
  [/^IT_/, 'intltool'],
  [/^GTK_DOC/, 'gtk-doc-tools'],
]

/** PHP extensions whose package has another name. */
const EXTENSIONS: { [extension: string]: string } = {
  ...{ dom: 'php-xml', xml: 'php-xml', simplexml: 'php-xml', xmlreader: 'php-xml', xmlwriter: 'php-xml', xsl: 'php-xml' },
  ...{ pdo_sqlite: 'php-sqlite3', pdo_mysql: 'php-mysql', mysqli: 'php-mysql', pdo_pgsql: 'php-pgsql' },
  ...{ iconv: 'php-common', ctype: 'php-common', tokenizer: 'php-common', phar: 'php-common', fileinfo: 'php-common', posix: 'php-common' },
}

/** Modules of the Perl core that Debian's minimal Perl omits. */
const OF_PERL = /^(?:ExtUtils|Test::(?:More|Harness|Simple|Builder)|Module::(?:Load|CoreList)|Pod::|CPAN|TAP::|App::Prove)/

export const packageOfProgram = (name: string): string | null => (Object.hasOwn(PROGRAMS, name) ? (PROGRAMS[name] ?? null) : null)

/** Returns the Debian package that provides a library, header or pkg-config module, regardless of case; null: it is not known. */
export function packageOfLibrary(name: string): string | null {
  const small = name.toLowerCase()
  const named = LIBRARIES.find(([, ...names]) =>
    names.some(one => (one.endsWith('/') ? small.startsWith(one.toLowerCase()) : small === one.toLowerCase())),
  )
  return named?.[0] ?? null
}

/** Returns the package of the first word of a sentence that names a library or a program. */
export function packageInText(text: string): string | null {
  const words = text.split(/[^\w.+/-]+/).map(word => word.replace(/^-l|[.]$/g, ''))
  return (
    words.map(word => (word.length < 2 ? null : (packageOfLibrary(word) ?? packageOfProgram(word)))).find(name => name !== null) ?? null
  )
}

export const packageOfMacro = (name: string): string | null => MACROS.find(([pattern]) => pattern.test(name))?.[1] ?? null

export const packageOfPerl = (module: string): string =>
  OF_PERL.test(module) ? 'perl' : `lib${module.toLowerCase().replaceAll('::', '-').replaceAll('_', '-')}-perl`

export function packageOfPhp(extension: string): string {
  const small = extension.toLowerCase()
  return (Object.hasOwn(EXTENSIONS, small) ? EXTENSIONS[small] : undefined) ?? `php-${small}`
}
