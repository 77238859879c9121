import type { Signature } from './signature.ts'

const npm = /^(?:npm (?:ERR!|error) )/.source

/** Node.js and its package managers. */
export const nodeSignatures: readonly Signature[] = [
  {
    code: 'node_version',
    pattern:
      /\b(?:EBADENGINE|ERR_PNPM_UNSUPPORTED_ENGINE)\b|^error \S+: The engine "(node)" is incompatible|Unsupported engine(?: for|:) (.{1,200})/,
    title: 'A package wants another version of Node.js',
    cause: 'The `engines` of a package do not allow the Node.js of this sandbox.',
    remedy:
      'Use a version of the package that supports this Node.js, or a Node.js that it supports. For npm this is a warning unless `engine-strict` is set.',
    general: true,
  },
  {
    code: 'npm_peer_conflict',
    pattern: new RegExp(`${npm}(?:code )?ERESOLVE\\b(.{0,200})`),
    title: 'npm cannot resolve the dependencies',
    cause: 'Two packages want versions of the same peer dependency that do not go together.',
    remedy: 'Bring the versions in package.json together; the lines below it name them. As a way round: `npm install --legacy-peer-deps`.',
  },
  {
    code: 'npm_lock_out_of_sync',
    pattern:
      /`npm ci` can only install packages when your package\.json and package-lock\.json|ERR_PNPM_OUTDATED_LOCKFILE|Your lockfile needs to be updated|The lockfile would have been modified by this install|lockfile had changes, but lockfile is frozen/,
    title: 'The lockfile does not match package.json',
    cause: 'package.json was changed and its lockfile was not.',
    remedy:
      'Run the install that may write the lockfile (`npm install`, `pnpm install --no-frozen-lockfile`, `yarn install`) and commit it.',
  },
  {
    code: 'npm_no_lockfile',
    pattern: /The `npm ci` command can only install with an existing package-lock\.json|ERR_PNPM_NO_LOCKFILE/,
    title: 'There is no lockfile',
    cause: 'A clean install needs a lockfile, and the repository has none.',
    remedy: 'Use `npm install`, or commit a lockfile.',
  },
  {
    code: 'npm_package_not_found',
    pattern: new RegExp(
      `${npm}404 {1,3}(?:Not Found - GET (\\S{1,200})|'([^']{1,200})' is not in this registry)|ERR_PNPM_FETCH_404\\S*|^error Couldn't find package "([^"]{1,200})"`,
    ),
    title: 'A package is not in the registry',
    cause: 'The registry has no package of that name, or does not show it without signing in: $1$2$3',
    remedy: 'Check the name in package.json. A private package needs its registry and a token in `.npmrc`.',
  },
  {
    code: 'npm_version_not_found',
    pattern: new RegExp(
      `${npm}(?:code ETARGET|notarget No matching version found for (\\S{1,200}?)\\.?$)|ERR_PNPM_NO_MATCHING_VERSION|^error Couldn't find any versions for "([^"]{1,200})"`,
    ),
    title: 'No version of a package matches',
    cause: 'The registry has no version of the package that the range allows: $1$2',
    remedy: 'Name a version that was published: `npm view NAME versions`.',
  },
  {
    code: 'npm_integrity',
    pattern: new RegExp(
      `${npm}(?:code )?EINTEGRITY\\b|${npm}sha512-\\S{1,200} integrity checksum failed|ERR_PNPM_TARBALL_INTEGRITY|Integrity check failed for`,
    ),
    title: 'A package does not match the lockfile',
    cause: 'What was downloaded has another checksum than the one in the lockfile.',
    remedy:
      'Clear the cache (`npm cache clean --force`). If it persists: the registry serves other content than when the lockfile was written; find the reason before you recreate the lockfile.',
  },
  {
    code: 'npm_auth',
    pattern: new RegExp(`${npm}(?:code )?(?:E401|E403|ENEEDAUTH)\\b|ERR_PNPM_FETCH_40[13]`),
    title: 'The registry wants a sign-in',
    cause: 'The registry refuses the request as it is: no token, or one that may not.',
    remedy: 'Give the sandbox a token as a secret and name it in `.npmrc`.',
  },
  {
    code: 'npm_missing_script',
    pattern:
      /^(?:npm (?:ERR!|error) )?Missing script: "?([^"\s]{1,100})"?|ERR_PNPM_NO_SCRIPT|^error Command "([^"]{1,100})" not found\.|^Usage Error: Couldn't find a script named "([^"]{1,100})"|error: Script not found "([^"]{1,100})"/,
    title: 'There is no such script',
    cause: 'package.json has no script `$1$2$3`.',
    remedy: 'List its `scripts` with `npm run`, and run an existing one. In a workspace: in the right package.',
  },
  {
    code: 'npm_no_package_json',
    pattern: new RegExp(
      `${npm}(?:enoent )?(?:Could not read package\\.json|ENOENT: no such file or directory, open '([^']{0,200}package\\.json)')|ERR_PNPM_NO_PKG_MANIFEST`,
    ),
    title: 'There is no package.json',
    cause: 'The command ran in a folder without package.json.',
    remedy: 'Change to the folder of the package first: `cd FOLDER && …`.',
  },
  {
    code: 'node_gyp',
    pattern: /^(?:npm (?:ERR!|error) )?gyp (?:ERR!|error) (?:find Python|build error|configure error|stack Error: (.{1,200}))/,
    title: 'A native module cannot be built',
    cause: 'A package has no binary for this Node.js and is compiled, which needs Python, make and a C++ compiler.',
    remedy: 'Use a version of the package that has one for this Node.js, or a sandbox with python3, make and g++.',
  },
  {
    code: 'node_native_abi',
    pattern: /was compiled against a different Node\.js version|ERR_DLOPEN_FAILED/,
    title: 'A native module was built for another Node.js',
    cause: 'node_modules was created with another version of Node.js, or on another system.',
    remedy: 'Install again here: `rm -rf node_modules && npm ci`, or `npm rebuild`.',
  },
  {
    code: 'node_out_of_memory',
    pattern:
      /FATAL ERROR: (?:Reached heap limit|Ineffective mark-compacts|CALL_AND_RETRY_LAST|invalid array length).{0,100}|JavaScript heap out of memory/,
    title: 'Node.js ran out of heap memory',
    cause: 'The process needed more memory than its heap may have.',
    remedy: 'Reduce the work in parallel, or raise the limit up to the memory of the sandbox: `NODE_OPTIONS=--max-old-space-size=2048`.',
  },
  {
    code: 'node_esm_cjs',
    pattern:
      /Cannot use import statement outside a module|ERR_REQUIRE_ESM|require\(\) of ES Module (\S{1,200})|^ReferenceError: (?:require|module|exports|__dirname) is not defined in ES module scope|Unexpected token 'export'|ERR_REQUIRE_CYCLE_MODULE|does not provide an export named '([^']{1,100})'/,
    title: 'ES modules and CommonJS are mixed up',
    cause: 'A file is loaded as the other kind of module than the one that it is written as.',
    remedy: 'Set `"type"` in package.json, or name the file .mjs or .cjs; a package that is ESM only is loaded by `import`.',
  },
  {
    code: 'node_extension',
    pattern: /ERR_UNKNOWN_FILE_EXTENSION|Unknown file extension "([^"]{1,20})"/,
    title: 'Node.js does not know how to load this kind of file',
    cause: 'Files `$1` are no JavaScript to this Node.js.',
    remedy: 'Compile them first, or start it with a loader, for example `tsx`.',
  },
  {
    code: 'node_module_not_found',
    pattern:
      /Cannot find (?:module|package) ['"]([^'"]{1,300})['"]|Module not found: (?:Error: )?Can't resolve '([^']{1,300})'|Could not resolve "([^"]{1,300})"|Failed to resolve import "([^"]{1,300})"|Rollup failed to resolve import "([^"]{1,300})"|ERR_PACKAGE_PATH_NOT_EXPORTED/,
    title: 'A module is not found',
    cause: '`$1$2$3$4$5` is not installed here, or the path of the import is wrong.',
    remedy:
      'A package: install what package.json lists (`npm ci`), and add it there if it is missing. A file: correct the path; in ES modules it needs its extension.',
  },
  {
    code: 'eslint',
    pattern: /^✖ (\d{1,7} problems? \(\d{1,7} errors?.{0,60}\))|^Found (\d{1,7}) errors?\.$|ESLint couldn't find (?:the|an eslint\.config)/,
    title: 'The linter found errors',
    cause: 'The code breaks rules of the linter: $1$2',
    remedy: 'The lines above name file, line and rule. The linter can fix many of them itself (`--fix`, `--write`).',
    general: true,
  },
  {
    code: 'prettier',
    pattern: /^\[warn\] Code style issues found in (.{1,100})|^Code style issues found|^would reformat (\S{1,200})/,
    title: 'Files are not formatted',
    cause: 'The formatter would write files differently.',
    remedy: 'Run the formatter with the option that writes.',
  },
  {
    code: 'typescript',
    pattern: /^(\S{1,300}?(?:\(\d+,\d+\)|:\d+:\d+)):? (?:- )?error (TS\d{4,5}): (.{1,300})|^error (TS\d{4,5}): (.{1,300})/,
    title: 'TypeScript found an error',
    cause: 'The types do not fit, or a file is not what the compiler expects: $2$4 $3$5',
    remedy: 'Fix the location that the compiler names: $1',
  },
  {
    code: 'javascript_syntax',
    pattern: /^(?:Uncaught )?SyntaxError: (.{1,300})|ERROR in .{0,200}SyntaxError|✘ \[ERROR\] (Unexpected .{1,200}|Expected .{1,200})/,
    title: 'A file is not valid',
    cause: 'The parser stumbled: $1$2',
    remedy:
      'Fix the syntax at the location that is printed with it. A JSON file, or a newer syntax than this version supports, gives the same message.',
  },
  {
    code: 'npm_enoent_binary',
    near: /^> |^npm /,
    pattern:
      /^sh: (?:line )?(?:\d{1,5}: )?([\w@./-]{1,100}): (?:command )?not found$|^npm error could not determine executable to run|ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL {1,3}Command "([^"]{1,100})" not found/,
    title: 'A program of a script is not there',
    cause: 'The script calls `$1$2`, which is neither installed in node_modules nor in the sandbox.',
    remedy: 'Install the dependencies first (`npm ci`); if it is no dependency yet, add it to package.json.',
  },
  {
    code: 'browser_missing',
    pattern:
      /Executable doesn't exist at (\S{1,300})|Could not find (?:Chrome|Chromium|Firefox)(?: \(ver\. ([\w.]{1,40})\))?|Failed to launch the browser process/,
    title: 'A browser is missing',
    cause: 'The tests start a browser that is not there: $1$2',
    remedy:
      'Install it with the setup commands (`npx playwright install`, `npx puppeteer browsers install`), or use a sandbox that has one.',
  },
  {
    code: 'npm_script_failed',
    pattern: new RegExp(
      `${npm}(?:code ELIFECYCLE|Lifecycle script \`([^\`]{1,100})\` failed|command failed)|ELIFECYCLE|^error Command failed with exit code (\\d{1,3})`,
    ),
    title: 'A script of package.json failed',
    cause: 'The command of the script failed; the output before explains why.',
    remedy: 'Fix the error that is printed before it.',
    general: true,
  },
]
