import type { Part } from '../proposal.ts'
import type { Project } from '../tree.ts'

/** Returns null when it is not a Go project. */
export function goPart(project: Project): Part | null {
  const manifest = project.first('go.work', 'go.mod')
  if (manifest === null) return withoutModule(project)
  const from = project.at(manifest)
  const text = project.text('go.mod') ?? project.text('go.work') ?? ''
  const vendored = project.has('vendor/modules.txt')
  const requires = /^require\b/m.test(text) || manifest === 'go.work'
  const wanted = /^go\s+(\d+\.\d+(?:\.\d+)?)/m.exec(text)?.[1] ?? null
  // A workspace has no packages at its root.
  const all =
    manifest === 'go.work' && !project.has('go.mod') ? modulesOf(project.text('go.work') ?? '') : './...'
  return {
    ecosystem: 'go',
    folder: project.folder,
    install:
      requires && !vendored
        ? [
            {
              command: 'go mod download',
              from,
              why: project.has('go.sum') ? 'go.sum lists the downloads' : 'go.mod has dependencies',
            },
          ]
        : [],
    tests: project.some(/_test\.go$/)
      ? [{ command: `go test ${all}`, from, why: 'the tests of all its packages' }]
      : [],
    builds: [
      { command: `go build ${all}`, from, why: 'all its packages' },
      { command: `go vet ${all}`, from, why: 'all its packages' },
    ],
    smokes: [],
    tools: [{ binary: 'go', wanted, from, package: 'golang-go' }],
    lockfiles: ['go.mod', 'go.sum', 'go.work', 'go.work.sum', 'vendor/modules.txt']
      .filter(project.has)
      .map(project.at),
    notes: vendored ? ['Its dependencies are in vendor/.'] : [],
  }
}

/** Older than modules: it is built as it is, if it needs only the standard library. */
function withoutModule(project: Project): Part | null {
  const from = project.matching(/^(?:[^/]+\/)?[^/]+\.go$/)[0]
  if (from === undefined || project.folder !== '') return null
  const suggest = (command: string, why: string) => ({ command: `GO111MODULE=off ${command}`, from, why })
  return {
    ecosystem: 'go',
    folder: '',
    install: [],
    smokes: [],
    lockfiles: [],
    notes: ['There is no go.mod.'],
    tests: project.some(/_test\.go$/) ? [suggest('go test ./...', 'the tests of all its packages')] : [],
    builds: [suggest('go build ./...', 'all its packages')],
    tools: [{ binary: 'go', wanted: null, from, package: 'golang-go' }],
  }
}

function modulesOf(work: string): string {
  const folders = [...work.matchAll(/^[ \t]*(?:use[ \t]+)?(\.{1,2}(?:\/[\w./-]*)?)[ \t]*\r?$/gm)].map(
    ([, folder]) => `${folder?.replace(/\/$/, '')}/...`,
  )
  return folders.length === 0 ? './...' : [...new Set(folders)].slice(0, 20).join(' ')
}
