import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { operationTypes } from './client-types.ts'
import { valuesOnly } from './values-only.ts'

const clone = fileURLToPath(new URL('../', import.meta.url))
const sdk = join(clone, 'src/client/sdk')
/**
 * Builds a package of the client that needs neither this clone nor another package: the SDK for Node 20 and
 * browsers, the command `agentrun`, and their types. Install it with `npm install <folder>`.
 */
export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await bundle(folder, 'sdk', join(sdk, 'client.ts'))
  await buildCommand(folder)
  writeTypes(join(folder, 'types'))
  const { version, description, license } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'))
  const manifest = {
    name: 'agentrun',
    version,
    description: `Client of: ${description}`,
    license,
    type: 'module',
    exports: { '.': { types: './types/client.d.ts', default: './sdk.js' } },
    types: './types/client.d.ts',
    bin: { agentrun: 'cli.js' },
    engines: { node: '>=20.12' },
    sideEffects: false,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(clone, 'LICENSE'), join(folder, 'LICENSE'))
  copyFileSync(join(clone, 'docs/reference/clients.md'), join(folder, 'README.md'))
  // What is bundled keeps its license.
  for (const name of ['commander', 'eventsource-parser'])
    copyFileSync(join(clone, 'node_modules', name, 'LICENSE'), join(folder, `LICENSE-${name}`))
}

/** Builds only the command, as `cli.js` in the folder. */
export async function buildCommand(folder: string): Promise<void> {
  await bundle(folder, 'cli', join(clone, 'src/client/cli/main.ts'))
  chmodSync(join(folder, 'cli.js'), 0o755)
}

async function bundle(folder: string, name: 'sdk' | 'cli', entry: string): Promise<void> {
  await build({
    root: clone,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [valuesOnly(join(sdk, 'routes.ts'), join(clone, 'src/client/cli/version.ts'))],
    // For the CLI: Node's modules stay imports.
    ...(name === 'cli' && { ssr: { noExternal: true, target: 'node' } }),
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2022',
      minify: false,
      ...(name === 'cli' ? { ssr: entry } : { lib: { entry, formats: ['es'], fileName: () => 'sdk.js' } }),
      rolldownOptions: { output: { entryFileNames: `${name}.js`, format: 'es', codeSplitting: false } },
    },
  })
}

/**
 * Writes the declarations of the SDK with the compiler, and those of the operations with ./client-types.ts,
 * without zod.
 */
function writeTypes(folder: string): void {
  const work = mkdtempSync(join(tmpdir(), 'agentrun-types-'))
  try {
    const compilerOptions = {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(clone, 'src'),
      outDir: work,
    }
    const project = join(work, 'tsconfig.json')
    const typeRoots = [join(clone, 'node_modules/@types')]
    const config = {
      extends: join(clone, 'tsconfig.json'),
      compilerOptions: { ...compilerOptions, typeRoots },
      include: [],
      files: [join(sdk, 'client.ts')],
    }
    writeFileSync(project, JSON.stringify(config))
    execFileSync(process.execPath, [join(clone, 'node_modules/typescript/bin/tsc'), '-p', project], {
      stdio: ['ignore', 2, 2],
    })
    mkdirSync(folder)
    const emitted = join(work, 'client/sdk')
    for (const name of readdirSync(emitted).filter(name => name !== 'operations.d.ts')) {
      const text = readFileSync(join(emitted, name), 'utf8')
      // Declarations that import the contract are left out: no export refers to them.
      if (!text.includes("'../../"))
        writeFileSync(join(folder, name), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
    }
    writeFileSync(join(folder, 'operations.d.ts'), operationTypes())
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(clone, 'dist/client'))
  await buildClient(folder)
  process.stdout.write(`${folder}: npm install ${folder}\n`)
}
