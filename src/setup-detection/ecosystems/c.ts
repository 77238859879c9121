import type { Part, Suggestion, Tool } from '../proposal.ts'
import type { Project } from '../tree.ts'

const SOURCES = /\.(?:c|cc|cpp|cxx|h|hpp|m|f90|asm|S)$/
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'] as const

/** In the order in which one is generated from the other. */
const TOUCH = `touch aclocal.m4 && find . \\( -name configure -o -name '*.in' \\) -exec touch {} + && find . \\( -name '*.[1-8]' -o -name '*.info' \\) -exec touch {} +`

type Context = {
  project: Project
  /** The name of the manifest and its path in the repository. */
  manifest: string
  from: string
  compiler: string | null
}

const suggest = ({ from }: Context, command: string, why: string): Suggestion => ({ command, from, why })
const toolOf = ({ from }: Context, binary: string, name = binary): Tool => ({
  binary,
  wanted: null,
  from,
  package: name,
})
const baseTools = (context: Context): Tool[] => [
  toolOf(context, 'make'),
  ...(context.compiler === null ? [] : [toolOf(context, context.compiler)]),
]

/** Returns null when CMake, Meson, Autotools or make do not build it. */
export function cPart(project: Project): Part | null {
  const manifest = project.first(
    'CMakeLists.txt',
    'meson.build',
    'configure',
    'configure.ac',
    'configure.in',
    ...MAKEFILES,
  )
  if (manifest === null) return null
  const from = project.at(manifest)
  const compiler = project.some(/\.(?:cc|cpp|cxx)$/) ? 'g++' : project.some(SOURCES) ? 'gcc' : null
  const context = { project, manifest, from, compiler }
  const build =
    ['build', 'build-sandbox'].find(name => !project.has(name) && !project.some(new RegExp(`^${name}/`))) ??
    '_build'
  const part =
    manifest === 'CMakeLists.txt'
      ? cmakePart(context, build)
      : manifest === 'meson.build'
        ? mesonPart(context, build)
        : manifest.startsWith('configure')
          ? autotoolsPart(context)
          : makePart(context)
  return part && { ecosystem: 'c', folder: project.folder, smokes: [], lockfiles: [from], notes: [], ...part }
}

type Build = Pick<Part, 'install' | 'tests' | 'builds' | 'tools'>

function cmakePart(context: Context, folder: string): Build {
  const { project, manifest } = context
  const text = project.text(manifest) ?? ''
  const wanted = /cmake_minimum_required\s*\(\s*VERSION\s+([\d.]{1,12})/i.exec(text)?.[1] ?? null
  const has_tests =
    /enable_testing|include\s*\(\s*CTest|add_test\s*\(/i.test(text) ||
    project.some(/^tests?\/CMakeLists\.txt$/)
  return {
    install: [
      suggest(context, `cmake -S . -B ${folder}`, 'configures'),
      suggest(context, `cmake --build ${folder} --parallel 2`, 'builds'),
    ],
    tests: has_tests
      ? [suggest(context, `ctest --test-dir ${folder} --output-on-failure --no-tests=error`, 'its tests')]
      : [],
    builds: [suggest(context, `cmake --build ${folder}`, 'builds')],
    tools: [{ ...toolOf(context, 'cmake'), wanted }, ...baseTools(context)],
  }
}

const mesonPart = (context: Context, folder: string): Build => ({
  install: [
    suggest(context, `meson setup ${folder}`, 'configures'),
    suggest(context, `meson compile -C ${folder}`, 'builds'),
  ],
  tests: [suggest(context, `meson test -C ${folder} --print-errorlogs`, 'its tests')],
  builds: [suggest(context, `meson compile -C ${folder}`, 'builds')],
  tools: [toolOf(context, 'meson'), toolOf(context, 'ninja', 'ninja-build'), ...baseTools(context).slice(1)],
})

function autotoolsPart(context: Context): Build {
  const { project, manifest } = context
  const prepare =
    manifest === 'configure'
      ? null
      : (project.first('autogen.sh', 'bootstrap', 'bootstrap.sh', 'buildconf') ?? 'autoreconf -fi')
  const generated =
    prepare === null
      ? []
      : [
          suggest(
            context,
            prepare === 'autoreconf -fi' ? prepare : `NOCONFIGURE=1 sh ./${prepare}`,
            'makes configure',
          ),
        ]
  // A clone gives generated files the same age as their sources, and make would regenerate them with programs
  // that are not needed otherwise.
  const age =
    manifest === 'configure' && project.has('aclocal.m4')
      ? [suggest(context, TOUCH, 'generated files are newer than their sources')]
      : []
  const makefile = `${project.text('Makefile.am') ?? ''}\n${project.text('Makefile.in') ?? ''}`
  const has_check = /^check(?:-am)?\s*:|^TESTS\s*[+=]|^SUBDIRS\s*=/m.test(makefile)
  const target = !has_check && /^test\s*:/m.test(makefile) ? 'test' : 'check'
  const autotools = [
    toolOf(context, 'autoreconf', 'autoconf'),
    toolOf(context, 'automake'),
    toolOf(context, 'libtoolize', 'libtool'),
  ]
  return {
    install: [
      ...generated,
      ...age,
      suggest(context, 'sh ./configure', 'configures'),
      suggest(context, 'make -j2', 'builds'),
    ],
    tests: [suggest(context, `make ${target}`, 'its tests')],
    builds: [suggest(context, 'make', 'builds')],
    tools: [
      ...baseTools(context),
      ...(prepare === null ? [] : autotools.slice(0, project.some(/Makefile\.am$/) ? 3 : 1)),
    ],
  }
}

function makePart(context: Context): Build | null {
  const { project, manifest, compiler } = context
  const targets = targetsOf(project.text(manifest) ?? '')
  const test = ['check', 'test', 'tests', 'unittest', 'run-tests'].find(name => targets.includes(name))
  // Without sources a Makefile is a list of tasks, whose first one is unknown.
  const builds =
    compiler === null && !targets.some(name => name === 'all' || name === 'build')
      ? []
      : [
          suggest(
            context,
            compiler === null && !targets.includes('all') ? 'make build' : 'make',
            'what it makes by default',
          ),
        ]
  if (builds.length === 0 && test === undefined) return null
  return {
    install: compiler === null ? [] : builds,
    tests: test === undefined ? [] : [suggest(context, `make ${test}`, `the target ${test}`)],
    builds,
    tools: baseTools(context),
  }
}

function targetsOf(makefile: string): string[] {
  return [...makefile.matchAll(/^([\w][\w .-]{0,100})\s*::?(?!=)/gm)].flatMap(
    ([, names]) => names?.trim().split(/\s+/) ?? [],
  )
}
