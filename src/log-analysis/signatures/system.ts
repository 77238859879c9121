import type { Signature } from './signature.ts'

/** Errors of the operating system, from any program. */
export const systemSignatures: readonly Signature[] = [
  {
    code: 'file_watchers',
    pattern: /ENOSPC: System limit for number of file watchers reached|inotify watch limit/,
    title: 'There are no file watchers left',
    cause: 'Programs watch more files than the system allows.',
    remedy: 'Run it once instead of watching (`--watch=false`, `CI=1`).',
  },
  {
    code: 'disk_full',
    pattern:
      /\bENOSPC\b|No space left on device|Disk quota exceeded|\bEDQUOT\b|There is not enough space on the disk|database or disk is full/,
    title: 'The disk is full',
    cause: 'The workspace, the home folder or /tmp is full.',
    remedy: 'Remove what is not needed (caches, build output, old node_modules), or raise the limits of the sandbox.',
  },
  {
    code: 'out_of_memory',
    pattern:
      /Cannot allocate memory|\bENOMEM\b|[Oo]ut of memory|std::bad_alloc|^(?:\S{1,100}: (?:line \d{1,6}: )?)? {0,10}(?:\d{1,7} )?Killed(?:\s.{0,200})?$|fatal error: runtime: out of memory|Killed signal terminated program|MemoryError|virtual memory exhausted|memory allocation of \d{1,15} bytes failed/,
    title: 'The memory was used up',
    cause: 'The processes of the sandbox took as much memory as they may, and one was refused or killed.',
    remedy: 'Do less at once (fewer jobs and workers), or raise the limits of the sandbox.',
  },
  {
    code: 'too_many_files',
    pattern: /\bEMFILE\b|\bENFILE\b|[Tt]oo many open files/,
    title: 'Too many files are open',
    cause: 'A process opened more files at once than it may.',
    remedy: 'Open fewer at once, and close them; `ulimit -n` prints the limit.',
  },
  {
    code: 'too_many_processes',
    pattern:
      /fork: (?:retry: )?Resource temporarily unavailable|Cannot fork|pthread_create failed|failed to create (?:new OS )?thread|unable to create native thread|\bspawn \S{0,100} ?EAGAIN\b/,
    title: 'There are too many processes',
    cause: 'The sandbox has reached its limit of processes and threads.',
    remedy: 'Run fewer at once, and end what was left in the background.',
  },
  {
    code: 'port_in_use',
    pattern:
      /\bEADDRINUSE\b(?:.{0,60}?:(\d{2,5}))?|[Aa]ddress already in use|[Pp]ort (\d{2,5}) is (?:already )?(?:in use|being used|allocated)|bind: address already in use/,
    title: 'A port is taken',
    cause: 'Something listens on port $1$2 already: often what an earlier command left in the background.',
    remedy: 'End that process, or use another port; tests do best with port 0.',
    in_tests: true,
  },
  {
    code: 'glibc',
    pattern: /version [`'"](GLIBC(?:XX)?_[\d.]{1,12})'? not found/,
    title: 'A program was built for a newer system',
    cause: 'It needs `$1`, which the C library of this sandbox does not have.',
    remedy: 'Build it here, or take one that was built for an older system, or statically (musl).',
  },
  {
    code: 'shared_library_missing',
    pattern:
      /error while loading shared libraries: ([^:\s]{1,200})|(lib[\w.+-]{1,100}\.so(?:\.\d{1,6}){0,3}): cannot open shared object file|Library not loaded: (\S{1,200})|OSError: (?:cannot load library|libGL)/,
    title: 'A shared library is missing',
    cause: 'The program needs `$1$2$3`, which is not in this sandbox.',
    remedy: 'Use a sandbox with the package that holds it.',
  },
  {
    code: 'wrong_architecture',
    pattern: /[Ee]xec format error|cannot execute binary file/,
    title: 'A program is for another machine',
    cause: 'The file is no program for this processor, or a script without `#!` line.',
    remedy: 'Install the one for this architecture.',
  },
  {
    code: 'bad_interpreter',
    pattern:
      /bad interpreter: (.{1,200})|cannot execute: required file not found|\/usr\/bin\/env: [‘'"]?([^’'":]{1,100})[’'"]?: (?:No such file|Permission denied)|\\r['’]?: (?:command not found|No such file)/,
    title: 'The interpreter of a script is not there',
    cause: 'Its first line names what is not in this sandbox (with Windows line ends the name has an invisible character): $1$2',
    remedy: 'Use a sandbox that has it, or fix the first line and the line endings.',
  },
  {
    code: 'locale',
    pattern:
      /setlocale: LC_ALL: cannot change locale|locale\.Error: unsupported locale setting|UnicodeDecodeError: 'ascii' codec|invalid byte sequence in US-ASCII|Cannot set LC_(?:ALL|CTYPE) to default locale/,
    title: 'A locale is missing',
    cause: 'The program wants a locale that this sandbox does not have.',
    remedy: 'Set LC_ALL=C.UTF-8.',
  },
  {
    code: 'needs_root',
    pattern:
      /are you root\?|must be run as root|requires (?:root|superuser) privileges|sudo: (?:command not found|a password is required|effective uid is not 0|The "no new privileges" flag)|E: Could not open lock file \/var\/lib/,
    title: 'It wants to be root',
    cause: 'Nobody is root in a sandbox, and nothing is installed into its system.',
    remedy: 'Install below the home folder, or have what is needed in the image of the sandbox.',
  },
  {
    code: 'permission_denied',
    pattern:
      /\b(?:EACCES|EPERM)\b:? ?(?:permission denied|operation not permitted)?,? ?(?:\w{1,20} )?'?([^'\s]{0,200})'?|^(?:\S{1,100}: )?(?:line \d{1,6}: )?(.{1,200}): Permission denied$|PermissionError: \[Errno 1?\d\] .{1,60}: '([^']{1,200})'|Operation not permitted|[Pp]ermission denied/,
    title: 'Permission is denied',
    cause: '`$1$2$3` may not be opened, written or executed: outside of the workspace most is read-only.',
    remedy: 'Work below the workspace, the home folder or /tmp; a script of its own: `chmod +x`, or start it by its interpreter.',
  },
  {
    code: 'read_only',
    pattern: /\bEROFS\b|Read-only file system/,
    title: 'A folder is read-only',
    cause: 'The system of a sandbox is not writable; the workspace, the home folder and /tmp are.',
    remedy: 'Install below the home folder (`--user`, `--prefix`, a virtual environment) instead of into the system.',
  },
  {
    code: 'system_package_missing',
    pattern: /^E: Unable to locate package (\S{1,100})|^E: Package '([^']{1,100})' has no installation candidate/,
    title: 'There is no such package of the system',
    cause: 'The lists of the package manager, which nobody brings up to date in a sandbox, do not have `$1$2`.',
    remedy: 'Nothing is installed into the system of a sandbox: have it in the image, or install below the home folder.',
  },
  {
    code: 'command_not_found',
    pattern:
      /^(?:\S{0,100}(?:bash|sh|zsh): )?(?:line \d{1,6}: |\d{1,6}: )?([\w@+./-]{1,100}): (?:command )?not found$|exec: "([^"]{1,100})": executable file not found|\bspawn (\S{1,100}) ENOENT|No such command: [‘'"`]?([\w@./-]{1,60})/,
    title: 'A program is not there',
    cause: '`$1$2$3$4` is neither in this sandbox nor on its path.',
    remedy: 'Install it below the home folder or by the package manager of the repository, or call it by its path.',
  },
  {
    code: 'file_not_found',
    pattern:
      /\bENOENT\b: no such file or directory, \w{1,20} '([^']{1,300})'|FileNotFoundError: \[Errno 2\] .{1,60}: '([^']{1,300})'|^(?:\S{1,100}: )?(?:line \d{1,6}: )?(?:cannot [\w ]{1,30} )?['‘"]?([^'‘"]{1,200}?)['’"]?: No such file or directory$|can't open file '([^']{1,300})'|java\.nio\.file\.NoSuchFileException: (\S{1,300})/,
    title: 'A file is not there',
    cause: '`$1$2$3$4$5` does not exist: not created yet, in another folder, or not in the repository.',
    remedy: 'Check path and working directory, and what has to run before.',
    in_tests: true,
    general: true,
  },
  {
    code: 'usage',
    pattern: /(?:unrecognized|unknown|invalid|illegal) (?:option|argument|flag|command)s?(?: --|: ?)? ?['"‘`]?([\w=.-]{1,80})/i,
    title: 'A program does not know an option',
    cause: '`$1` is no option of this version of it.',
    remedy: 'Look at its `--help`.',
    general: true,
  },
  {
    code: 'shell_syntax',
    pattern:
      /syntax error near unexpected token [`'](.{1,60})'|unexpected EOF while looking for matching|syntax error: unexpected end of file|Syntax error: (.{1,80}) unexpected/,
    title: 'The shell does not understand the command',
    cause: 'Quotes or brackets do not match, or it is written for another shell: $1$2',
    remedy: 'Correct the command; what is written for bash does not run in sh.',
  },
  {
    code: 'variable_missing',
    pattern:
      /\b([A-Za-z_]\w{1,80}): unbound variable|\b([A-Z_]\w{1,80}): parameter (?:null or not set|not set)|KeyError: '([A-Z][A-Z0-9_]{2,80})'|(?:[Mm]issing|required) environment variables?:? ['"`]?([A-Z][A-Z0-9_]{2,80})|environment variable ['"`]?([A-Z][A-Z0-9_]{2,80})['"`]? (?:is )?(?:not set|missing|required)|\b([A-Z][A-Z0-9_]{3,80}) (?:environment variable )?is not (?:set|defined)/,
    title: 'A variable is not set',
    cause: 'The program wants `$1$2$3$4$5$6`, and the sandbox does not have it.',
    remedy: 'Give it as a variable of the setup commands, or as a secret that the agent may have.',
  },
  {
    code: 'test_timeout',
    pattern:
      /Exceeded timeout of (\d{1,9}) ?ms for a test|Test timed out in (\d{1,9}) ?ms|Timeout of (\d{1,9}) ?ms exceeded|panic: test timed out after (\S{1,20})|Failed: Timeout >?([\d.]{1,10})s?|Test timeout of (\d{1,9}) ?ms exceeded|test(?:s)? did not (?:complete|finish) (?:in|within) (\S{1,20})|TestTimedOutException|Hook timed out in (\d{1,9})/,
    title: 'A test ran out of time',
    cause: 'It waits for something that does not come, or the machine is slow. Its time was: $1$2$3$4$5$6$7$8',
    remedy: 'Determine what it waits for (a server, a promise, the network) before you raise its timeout.',
    in_tests: true,
  },
  {
    code: 'segmentation_fault',
    pattern: /Segmentation fault|SIGSEGV|Bus error|Aborted \(core dumped\)|Illegal instruction/,
    title: 'A program crashed',
    cause: 'It reached for memory that is not its own, or ended itself.',
    remedy: 'Run it under a debugger or a sanitizer; a native module of another version is a frequent cause.',
  },
  {
    code: 'schema_migration',
    pattern: /P1001: Can't reach database server|P3009|Migrations? (?:failed|are pending)|PendingMigrationError/,
    title: 'Migrations have not run',
    cause: 'The schema of the database is not what the program expects.',
    remedy: 'Start the database and run the migrations first.',
    in_tests: true,
  },
  {
    code: 'coverage_threshold',
    pattern:
      /[Cc]overage (?:threshold )?for (\w{1,20}) \(([\d.]{1,8}%?)\) does not meet|Required test coverage of ([\d.]{1,8}%) not reached|coverage threshold.{0,40}not met/,
    title: 'Too little is covered by tests',
    cause: 'The tests ran, and cover less than the configuration wants: $1 $2$3',
    remedy: 'Add tests, or lower the threshold on purpose.',
  },
]
