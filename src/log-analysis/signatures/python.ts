import type { Signature } from './signature.ts'

export const pythonSignatures: readonly Signature[] = [
  {
    code: 'python_externally_managed',
    pattern: /externally-managed-environment/,
    title: 'pip may not install into the system',
    cause: 'This Python belongs to the distribution, and pip must not change it (PEP 668).',
    remedy: 'Make an environment first: `python3 -m venv .venv && . .venv/bin/activate`, then install.',
  },
  {
    code: 'python_no_venv',
    pattern: /ensurepip is not available|No module named (?:'?ensurepip'?|'?venv'?)|The virtual environment was not created successfully/,
    title: 'Python cannot create virtual environments',
    cause: 'The package that does it, on Debian `python3-venv`, is not in this sandbox.',
    remedy: 'Use `uv venv` or `virtualenv` where one is there, or a sandbox with `python3-venv`.',
  },
  {
    code: 'python_no_pip',
    pattern: /No module named '?pip'?$/,
    title: 'Python has no pip',
    cause: 'pip is not installed for this Python.',
    remedy: 'Make an environment with `python3 -m venv .venv`, which brings it, or use a sandbox with `python3-pip`.',
  },
  {
    code: 'python_module_not_found',
    pattern:
      /ModuleNotFoundError: No module named ['"]?([\w.-]{1,200})['"]?|ImportError: No module named ['"]?([\w.-]{1,200})['"]?|^\S{0,200}python[\d.]*: No module named ([\w.-]{1,200})/,
    title: 'A Python module is not found',
    cause: '`$1$2$3` is not installed in this environment, or is not on the path.',
    remedy:
      'Install what the repository requires (`pip install -r requirements.txt`, `pip install -e .[test]`) in the environment that the command uses. A module of its own: run from the root, or set PYTHONPATH.',
  },
  {
    code: 'python_import_name',
    pattern:
      /ImportError: cannot import name ['"]([^'"]{1,200})['"] from (?:partially initialized module )?['"]([^'"]{1,200})['"](.{0,100})/,
    title: 'A name cannot be imported',
    cause: '`$2` has no `$1`: another version of the package, or two modules that import each other.',
    remedy: 'Pin the version of the package that has it, or break the circle.',
  },
  {
    code: 'python_no_matching_version',
    pattern:
      /ERROR: No matching distribution found for (.{1,200})|ERROR: Could not find a version that satisfies the requirement (.{1,200}?) \(from|Because (\S{1,100}) was not found in the package registry/,
    title: 'pip finds no version of a package',
    cause: 'No version that the index offers fits `$1$2$3`: the name is wrong, it wants another Python, or the index could not be reached.',
    remedy: 'Check for refusals of the network before it; otherwise fix name or version in the requirements.',
  },
  {
    code: 'python_resolution',
    pattern:
      /ResolutionImpossible|Cannot install (.{1,200}?) because these package versions have conflicting dependencies|version solving failed|No solution found when resolving dependencies/,
    title: 'The requirements contradict each other',
    cause: 'Two packages want versions of a third that do not go together.',
    remedy: 'The lines by it name them: loosen one of the requirements.',
  },
  {
    code: 'python_version',
    pattern:
      /requires a different Python: (.{1,100})|Requires-Python (.{1,60})|requires Python (?:'|>=|<|==)(.{1,60})|The current project's supported Python range|Python version (\S{1,40}) is not (?:supported|compatible)|does not satisfy Python(\S{0,40})/,
    title: 'It wants another Python',
    cause: 'The project or a package does not allow this version of Python: $1$2$3$4',
    remedy: 'Use a Python that it allows, or a version of the package that allows this one.',
  },
  {
    code: 'python_hash_mismatch',
    pattern: /THESE PACKAGES DO NOT MATCH THE HASHES|Hash mismatch for/,
    title: 'A package does not match the requirements',
    cause: 'What was downloaded has another hash than the one that is written down.',
    remedy: 'Determine whether the package was changed or the file of hashes is outdated; then recreate the file.',
  },
  {
    code: 'python_build_failed',
    pattern:
      /ERROR: Failed building wheel for (\S{1,100})|error: subprocess-exited-with-error|Failed to build (\S{1,200})|Getting requirements to build wheel did not run successfully|error: metadata-generation-failed/,
    title: 'A Python package cannot be built',
    cause: 'For this Python there is no ready wheel, and building one failed: $1$2',
    remedy: 'What is printed before names what the build lacks: a compiler, a header, Rust. Or take a version that has a wheel.',
    general: true,
  },
  {
    code: 'python_syntax',
    near: /^\s+File "|^E {2}/,
    pattern: /^(?:E {1,6})?(SyntaxError|IndentationError|TabError): (.{1,300})/,
    title: 'A Python file is not valid',
    cause: '$1: $2',
    remedy: 'Fix the line that is printed above it. Syntax of a newer Python, and `print` of Python 2, give the same message.',
  },
  {
    code: 'python_fixture',
    pattern: /fixture '([^']{1,100})' not found/,
    title: 'A fixture is not found',
    cause: 'The test needs `$1`, which neither a conftest.py nor an installed plugin provides.',
    remedy: 'Install the plugin that provides it (for example pytest-mock for `mocker`), or define it.',
  },
  {
    code: 'pytest_options',
    pattern: /^\S{0,100}(?:pytest|py\.test)(?:\.py)?: error: (.{1,200})|pytest: error: unrecognized arguments: (.{1,200})/,
    title: 'pytest does not know an option',
    cause: '$1$2. Options such as `--cov` come with a plugin.',
    remedy: 'Install the plugin (pytest-cov, pytest-xdist, pytest-timeout …), or leave the option out.',
  },
  {
    code: 'pytest_nothing_collected',
    pattern: /^(?:=+ )?no tests (?:ran|collected)\b|^collected 0 items$/,
    title: 'pytest found no tests',
    cause: 'No test was found in its folders, or a selection left none (exit code 5).',
    remedy: 'Name the folder of the tests, and check `testpaths` and the selection by `-k` or `-m`.',
    general: true,
  },
]
