import type { Part, Suggestion, Tool } from '../proposal.ts'
import type { Project } from '../tree.ts'

const SOURCES = /\.(?:c|cc|cpp|cxx|h|hpp|m|f90|asm|S)$/
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'] as const

/** In the order in which one is generated from the other. */
const TOUCH = `touch aclocal.m4 && find . \\( -name configure -o -name '*.in' \\) -exec touch {} + && find . \\( -name '*.[1-8]' -o -name '*.info' \\) -exec touch {} +`

/** Returns null when CMake, Meson, Autotools or make do not build it. */
export function cPart(project: Project): Part | null {
  const manifest = project.first('CMakeLists.txt', 'meson.build', 'configure', 'configure.ac', 'configure.in', ...MAKEFILES)
  if (manifest === null) return null
  const from = project.at(manifest)
  const said = (command: string, why: string): Suggestion => ({ command, from, why })
  const folder = ['build', 'build-sandbox'].find(name => !project.has(name) && !project.some(new RegExp(`^${name}/`))) ?? '_build'
  const compiler = project.some(/\.(?:cc|cpp|cxx)$/) ? 'g++' : project.some(SOURCES) ? 'gcc' : null
  const tool = (binary: string, name = binary): Tool => ({ binary, wanted: null, from, package: name })
  const base = [tool('make'), ...(compiler === null ? [] : [tool(compiler)])]
  const named = { ecosystem: 'c', folder: project.folder, smokes: [], lockfiles: [from], notes: [] }
  if (manifest === 'CMakeLists.txt') {
    const wanted = /cmake_minimum_required\s*\(\s*VERSION\s+([\d.]{1,12})/i.exec(project.text(manifest) ?? '')?.[1] ?? null
    return {
      ...named,
      install: [said(`cmake -S . -B ${folder}`, 'configures'), said(`cmake --build ${folder} --parallel 2`, 'builds')],
      tests:
        /enable_testing|include\s*\(\s*CTest|add_test\s*\(/i.test(project.text(manifest) ?? '') || project.some(/^tests?\/CMakeLists\.txt$/)
          ? [said(`ctest --test-dir ${folder} --output-on-failure --no-tests=error`, 'its tests')]
          : [],
      builds: [said(`cmake --build ${folder}`, 'builds')],
      tools: [{ ...tool('cmake'), wanted }, ...base],
    }
  }
  if (manifest === 'meson.build')
    return {
      ...named,
      install: [said(`meson setup ${folder}`, 'configures'), said(`meson compile -C ${folder}`, 'builds')],
      tests: [said(`meson test -C ${folder} --print-errorlogs`, 'its tests')],
      builds: [said(`meson compile -C ${folder}`, 'builds')],
      tools: [tool('meson'), tool('ninja', 'ninja-build'), ...base.slice(1)],
    }
  if (manifest.startsWith('configure')) {
    const prepare =
      manifest === 'configure' ? null : (project.first('autogen.sh', 'bootstrap', 'bootstrap.sh', 'buildconf') ?? 'autoreconf -fi')
    const generated =
      prepare === null ? [] : [said(prepare === 'autoreconf -fi' ? prepare : `NOCONFIGURE=1 sh ./${prepare}`, 'makes configure')]
    // A clone gives generated files the same age as their sources, and make would regenerate them with programs that are not needed
    // otherwise.
    const age =
      manifest === 'configure' && project.has('aclocal.m4') ? [said(TOUCH, 'generated files are newer than what they are made of')] : []
    const makefile = `${project.text('Makefile.am') ?? ''}\n${project.text('Makefile.in') ?? ''}`
    const target = /^check(?:-am)?\s*:|^TESTS\s*[+=]|^SUBDIRS\s*=/m.test(makefile)
      ? 'check'
      : /^test\s*:/m.test(makefile)
        ? 'test'
        : 'check'
    return {
      ...named,
      install: [...generated, ...age, said('sh ./configure', 'configures'), said('make -j2', 'builds')],
      tests: [said(`make ${target}`, 'its tests')],
      builds: [said('make', 'builds')],
      tools: [
        ...base,
        ...(prepare === null
          ? []
          : [tool('autoreconf', 'autoconf'), tool('automake'), tool('libtoolize', 'libtool')].slice(
              0,
              project.some(/Makefile\.am$/) ? 3 : 1,
            )),
      ],
    }
  }
  const targets = targetsOf(project.text(manifest) ?? '')
  const test = ['check', 'test', 'tests', 'unittest', 'run-tests'].find(name => targets.includes(name))
  // Without sources a Makefile is a list of tasks, whose first one is unknown.
  const builds =
    compiler === null && !targets.some(name => name === 'all' || name === 'build')
      ? []
      : [said(compiler === null && !targets.includes('all') ? 'make build' : 'make', 'what it makes by default')]
  if (builds.length === 0 && test === undefined) return null
  return {
    ...named,
    install: compiler === null ? [] : builds,
    tests: test === undefined ? [] : [said(`make ${test}`, `the target ${test}`)],
    builds,
    tools: base,
  }
}

export function targetsOf(makefile: string): string[] {
  return [...makefile.matchAll(/^([\w][\w .-]{0,100})\s*::?(?!=)/gm)].flatMap(([, names]) => names?.trim().split(/\s+/) ?? [])
}
