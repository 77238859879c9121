import type { Part, Suggestion, Tool } from '../proposal.ts'
import type { Project } from '../tree.ts'

const MANIFESTS = ['Makefile.PL', 'Build.PL', 'cpanfile', 'dist.ini'] as const
const MODULE = /^lib\/((?:\w+\/)*\w+)\.pm$/

/**
 * Returns null when it is not a Perl project. Its dependencies come from the machine: there is no lockfile.
 */
export function perlPart(project: Project): Part | null {
  const manifest = project.first(...MANIFESTS)
  if (manifest === null) return null
  const from = project.at(manifest)
  const suggest = (command: string, why: string): Suggestion => ({ command, from, why })
  const text = project.text(manifest) ?? ''
  const wanted =
    /^[ \t]*(?:use|require)\s+v?(5[\d._]{1,12})\s*;|MIN_PERL_VERSION['"]?\s*=>\s*['"]?v?(5[\d._]{1,12})/m.exec(
      text,
    )
  const compiled = project.some(/\.xs$/)
  const has_tests =
    project.some(/^t\/(?:.*\/)?[^/]+\.t$/) || (manifest.endsWith('.PL') && project.has('test.pl'))
  const alone = project.some(/^t\/.+\/[^/]+\.t$/) ? 'prove -lr t' : 'prove -l t'
  const [install, test] =
    manifest === 'Makefile.PL'
      ? [[suggest('perl Makefile.PL', 'makes its Makefile'), suggest('make', 'builds')], 'make test']
      : manifest === 'Build.PL'
        ? [[suggest('perl Build.PL', 'makes its Build'), suggest('./Build', 'builds')], './Build test']
        : [[], alone]
  const main = mainModule(project, text)
  const tool = (binary: string, name: string): Tool => ({ binary, wanted: null, from, package: name })
  return {
    ecosystem: 'perl',
    folder: project.folder,
    install,
    notes: [],
    tests: has_tests ? [suggest(test, 'its tests')] : [],
    builds: [],
    smokes:
      main === null
        ? []
        : [suggest(`perl ${compiled ? '-Mblib' : '-Ilib'} -e 'require ${main}'`, `${main} can be loaded`)],
    tools: [
      { ...tool('perl', 'perl'), wanted: wanted?.[1] ?? wanted?.[2] ?? null },
      ...(manifest === 'Makefile.PL' ? [tool('make', 'make')] : []),
      ...(compiled ? [tool('gcc', 'gcc')] : []),
    ],
    lockfiles: [...MANIFESTS, 'META.json', 'cpanfile.snapshot'].filter(project.has).map(project.at),
  }
}

/** Returns the module that the distribution is named after, or the topmost one. */
function mainModule(project: Project, manifest: string): string | null {
  const name = /^[ \t]*['"]?(?:DIST|module_)?NAME['"]?\s*(?:=>|=)\s*['"]?([\w:-]{1,100})/im
    .exec(manifest)?.[1]
    ?.replaceAll('-', '::')
  if (name !== undefined && project.has(`lib/${name.replaceAll('::', '/')}.pm`)) return name
  const depth = (path: string) => path.split('/').length
  const path = project.matching(MODULE).sort((a, b) => depth(a) - depth(b) || a.length - b.length)[0]
  return MODULE.exec(path ?? '')?.[1]?.replaceAll('/', '::') ?? null
}
