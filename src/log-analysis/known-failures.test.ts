import { expect, test } from 'vitest'
import { first } from '../../test/runs/agent/failed-command.ts'

/** What programs print, as it was seen; the cause has to be named, with what it is about. */
const known: [code: string, about: string, command: string, output: string][] = [
  [
    'node_module_not_found',
    'express',
    'node app.js',
    "node:internal/modules/cjs/loader:1568\n  throw err;\n  ^\n\nError: Cannot find module 'express'\nRequire stack:\n- /workspace/app.js\n  code: 'MODULE_NOT_FOUND'",
  ],
  [
    'node_module_not_found',
    'left-pad',
    'node a.mjs',
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'left-pad' imported from /workspace/a.mjs",
  ],
  [
    'npm_peer_conflict',
    '',
    'npm install',
    'npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error Found: react@16.0.0',
  ],
  [
    'npm_lock_out_of_sync',
    '',
    'npm ci',
    'npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync.\nnpm error Missing: left-pad@1.3.0 from lock file',
  ],
  [
    'npm_version_not_found',
    'left-pad@99.0.0',
    'npm i',
    'npm error code ETARGET\nnpm error notarget No matching version found for left-pad@99.0.0.',
  ],
  [
    'npm_package_not_found',
    'zzz-none',
    'npm i',
    'npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/zzz-none - Not found',
  ],
  [
    'npm_integrity',
    '',
    'npm ci',
    'npm error code EINTEGRITY\nnpm error sha512-AAA integrity checksum failed when using sha512: wanted sha512-AAA but got sha512-BBB.',
  ],
  [
    'npm_enoent_binary',
    'jest',
    'npm test',
    '> x@1.0.0 test\n> jest\n\nsh: 1: jest: not found\nnpm error Lifecycle script `test` failed with error:',
  ],
  [
    'npm_missing_script',
    'build',
    'npm run build',
    'npm error Missing script: "build"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run',
  ],
  [
    'npm_lock_out_of_sync',
    '',
    'pnpm i --frozen-lockfile',
    ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with package.json',
  ],
  [
    'node_out_of_memory',
    '',
    'npm run build',
    '<--- Last few GCs --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\nAborted (core dumped)',
  ],
  [
    'port_in_use',
    '3000',
    'npm start',
    'Error: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle [as _listen2]',
  ],
  [
    'typescript',
    'src/a.ts(3,7)',
    'tsc',
    "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
  ],
  ['node_esm_cjs', '', 'node a.js', 'SyntaxError: Cannot use import statement outside a module'],
  [
    'python_module_not_found',
    'requests',
    'python app.py',
    'Traceback (most recent call last):\n  File "/workspace/app.py", line 1, in <module>\n    import requests\nModuleNotFoundError: No module named \'requests\'',
  ],
  [
    'python_externally_managed',
    '',
    'pip install x',
    'error: externally-managed-environment\n\n× This environment is externally managed',
  ],
  [
    'python_syntax',
    'SyntaxError',
    'python a.py',
    '  File "/workspace/a.py", line 1\n    print "x"\n    ^^^^^^^^^\nSyntaxError: Missing parentheses in call to \'print\'. Did you mean print(...)?',
  ],
  [
    'python_resolution',
    '',
    'pip install -r r.txt',
    'ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.\nERROR: ResolutionImpossible: for help visit',
  ],
  [
    'connection_refused',
    '',
    'pip install x',
    "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<x>: Failed to establish a new connection: [Errno 111] Connection refused')': /simple/x/\nERROR: Could not find a version that satisfies the requirement x (from versions: none)\nERROR: No matching distribution found for x",
  ],
  [
    'python_uncaught',
    'KeyError',
    'python a.py',
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: \'name\'',
  ],
  [
    'go_module_missing',
    'github.com/x/y',
    'go build ./...',
    'main.go:4:2: no required module provides package github.com/x/y; to add it:\n\tgo get github.com/x/y',
  ],
  ['go_build', 'main.go:7:2', 'go build', '# example.com/x\n./main.go:7:2: undefined: fmt2'],
  ['go_version', '1.30', 'go build', 'go: go.mod requires go >= 1.30 (running go 1.24.4; GOTOOLCHAIN=local)'],
  [
    'rust_linker',
    'cc',
    'cargo build',
    '   Compiling x v0.1.0\nerror: linker `cc` not found\n  |\n  = note: No such file or directory (os error 2)\n\nerror: could not compile `x` (bin "x") due to 1 previous error',
  ],
  [
    'rust_borrow',
    'E0382',
    'cargo build',
    'error[E0382]: borrow of moved value: `s`\n --> src/main.rs:4:20\nerror: could not compile `x` (bin "x")',
  ],
  [
    'rust_edition',
    'edition20',
    'cargo build',
    'error: failed to parse manifest\n\nCaused by:\n  feature `edition2024` is required',
  ],
  [
    'java_class_version',
    '',
    'java -jar a.jar',
    'Exception in thread "main" java.lang.UnsupportedClassVersionError: A has been compiled by a more recent version of the Java Runtime (class file version 65.0)',
  ],
  [
    'java_compile',
    'App.java:[5,9]',
    'mvn package',
    '[INFO] Compiling\n[ERROR] /workspace/src/main/java/App.java:[5,9] cannot find symbol\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile',
  ],
  [
    'java_compile',
    'App.java:5',
    'javac App.java',
    "App.java:5: error: ';' expected\n    int a\n         ^\n1 error",
  ],
  [
    'java_dependency',
    'com.x:y',
    'mvn -o package',
    '[ERROR] Failed to execute goal on project a: Could not resolve dependencies for project a:a:jar:1: Cannot access central in offline mode and the artifact com.x:y:jar:1 has not been downloaded',
  ],
  [
    'undefined_reference',
    'foo',
    'gcc a.c',
    "/usr/bin/ld: /tmp/x.o: in function `main':\na.c:(.text+0xa): undefined reference to `foo'\ncollect2: error: ld returned 1 exit status",
  ],
  [
    'missing_header',
    'openssl/ssl.h',
    'make',
    'a.c:1:10: fatal error: openssl/ssl.h: No such file or directory\n    1 | #include <openssl/ssl.h>\ncompilation terminated.\nmake: *** [Makefile:2: a.o] Error 1',
  ],
  ['no_rule_to_make', 'foo.o', 'make', "make: *** No rule to make target 'foo.o', needed by 'all'.  Stop."],
  [
    'git_conflict',
    'a.txt',
    'git merge x',
    'Auto-merging a.txt\nCONFLICT (content): Merge conflict in a.txt\nAutomatic merge failed; fix conflicts and then commit the result.',
  ],
  [
    'git_auth',
    '',
    'git push',
    "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
  ],
  [
    'git_lock',
    'index.lock',
    'git add .',
    "fatal: Unable to create '/workspace/.git/index.lock': File exists.",
  ],
  ['permission_denied', '/etc/x', 'node a.js', "Error: EACCES: permission denied, open '/etc/x'"],
  [
    'dns',
    'api.example.com',
    'node a.js',
    'Error: getaddrinfo ENOTFOUND api.example.com\n    at GetAddrInfoReqWrap.onlookup',
  ],
  ['dns', 'example.com', 'curl https://example.com', 'curl: (6) Could not resolve host: example.com'],
  [
    'egress_denied',
    'registry.npmjs.org:443',
    'npm i',
    'npm error code E403\nnpm error 403 403 Forbidden (egress is off, so no rule allows registry.npmjs.org:443) - GET https://registry.npmjs.org/x',
  ],
  [
    'egress_denied',
    '',
    'node a.js',
    'TypeError: fetch failed\n  [cause]: RequestAbortedError [AbortError]: Proxy response (403) !== 200 when HTTP Tunneling',
  ],
  ['egress_denied', '', 'curl https://example.com', 'curl: (56) CONNECT tunnel failed, response 403'],
  ['tls', '', 'node a.js', 'Error: unable to verify the first certificate; UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['rate_limited', '', 'docker pull x', 'toomanyrequests: You have reached your pull rate limit.'],
  [
    'disk_full',
    '',
    'npm ci',
    'npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device, write',
  ],
  ['out_of_memory', '', './build.sh', './build.sh: line 3:    12 Killed                  cc1plus big.cc'],
  [
    'database_refused',
    '',
    'npm run migrate',
    'Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect',
  ],
  [
    'docker_missing',
    '',
    'docker compose up',
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
  ],
  [
    'shared_library_missing',
    'libssl.so.1.1',
    './app',
    './app: error while loading shared libraries: libssl.so.1.1: cannot open shared object file: No such file or directory',
  ],
  [
    'glibc',
    'GLIBC_2.38',
    './app',
    "./app: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./app)",
  ],
  [
    'locale',
    '',
    'perl x',
    'bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)\nlocale.Error: unsupported locale setting',
  ],
  ['command_not_found', 'cargo', 'cargo build', 'bash: line 1: cargo: command not found'],
  [
    'ruby_gem_missing',
    'rake',
    'bundle exec rake',
    'Could not find rake-13.0.6 in locally installed gems\nRun `bundle install` to install missing gems.',
  ],
  [
    'php_autoload',
    '',
    'php a.php',
    'PHP Warning:  require(/workspace/vendor/autoload.php): Failed to open stream: No such file or directory in /workspace/a.php on line 3',
  ],
  [
    'browser_missing',
    'chromium-1091',
    'npx playwright test',
    "Error: browserType.launch: Executable doesn't exist at /home/u/.cache/ms-playwright/chromium-1091/chrome-linux/chrome",
  ],
  [
    'cmake_missing',
    'Foo',
    'cmake ..',
    'CMake Error at CMakeLists.txt:5 (find_package):\n  By not providing "FindFoo.cmake" in CMAKE_MODULE_PATH this project has\n  asked CMake to find a package configuration file provided by "Foo", but\n  CMake did not find one.',
  ],
  [
    'configure_missing',
    'pg_config',
    'pip install psycopg2',
    '  × python setup.py egg_info did not run successfully.\n      Error: pg_config executable not found.\nerror: metadata-generation-failed',
  ],
  [
    'needs_root',
    '',
    'apt-get install -y libpq-dev',
    'E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?',
  ],
  [
    'java_uncaught',
    'opentest4j',
    'java A',
    'org.opentest4j.AssertionFailedError: expected: <3> but was: <4>\n\tat A.b(A.java:12)',
  ],
  ['test_timeout', '5000', 'npx something', 'Error: Exceeded timeout of 5000 ms for a test'],
  ['shell_syntax', '', 'x.sh', "x.sh: line 3: syntax error near unexpected token `fi'"],
  ['variable_missing', 'DATABASE_URL', 'node a.js', 'Error: DATABASE_URL is not set'],
  [
    'java_uncaught',
    'IllegalStateException',
    'java A',
    'Exception in thread "main" java.lang.RuntimeException: outer\n\tat A.main(A.java:3)\nCaused by: java.lang.IllegalStateException: the root\n\tat A.x(A.java:9)',
  ],
]

for (const [code, about, command, output] of known)
  test(`${code}: ${command}`, () => {
    const root = first(command, 1, output)
    expect(root).toMatchObject({ code, severity: 'error', seq: 5, agent_run_id: 1 })
    expect(`${root?.message} ${root?.cause}`).toContain(about)
    for (const words of [root?.cause, root?.mend]) expect(words).toMatch(/^[^$]{10,}$/)
    expect(output).toContain(root?.excerpt?.split('\n')[0]?.trim())
  })
