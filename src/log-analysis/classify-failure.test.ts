import { describe, expect, test } from 'vitest'
import { first, found, ran } from '../../test/runs/agent/failed-command.ts'

describe('a command that failed', () => {
  test('an exit code that explains the failure, and one that does not', () => {
    expect(first('./a.out', 139, '')).toMatchObject({
      code: 'command_failed',
      message: expect.stringContaining('SIGSEGV'),
    })
    expect(first('./run', 126, '')?.message).toContain('cannot be executed')
    expect(first('frobnicate --all', 3, 'all good\nwhatever: invalid frob\nbye')).toMatchObject({
      code: 'command_failed',
      cause: 'Its output: whatever: invalid frob',
      exit_code: 3,
    })
  })

  test('a search without matches is not a failure', () => {
    expect(found(ran('grep -r nothing .', 1, ''))).toMatchObject([{ severity: 'info' }])
    expect(
      found(ran('cd app && ls missing', 2, "ls: cannot access 'missing': No such file or directory")).every(
        ({ severity }) => severity === 'info',
      ),
    ).toBe(true)
    expect(
      found(ran('echo x > /dev/full', 1, 'bash: echo: write error: No space left on device'))[0],
    ).toMatchObject({
      code: 'disk_full',
      severity: 'error',
    })
  })

  test('failing tests are reported before an error that one of them is about, and after the cause that prevents them', () => {
    const output =
      'FAILED tests/test_a.py::test_net - ConnectionRefusedError: [Errno 111] Connection refused\n1 failed in 0.1s'
    expect(found(ran('pytest', 1, output)).map(({ code }) => code)).toEqual([
      'failing_tests',
      'connection_refused',
      'command_failed',
    ])
    const kept =
      "ERROR tests/test_a.py - ModuleNotFoundError: No module named 'numpy'\nE   ModuleNotFoundError: No module named 'numpy'"
    expect(found(ran('pytest', 2, kept)).map(({ code }) => code)).toEqual([
      'python_module_not_found',
      'failing_tests',
      'command_failed',
    ])
  })

  test('a pipe hides how a command ends, and text that is only printed is not a failure', () => {
    expect(first('npm test 2>&1 | tail -20', 0, "Error: Cannot find module 'x'")).toMatchObject({
      code: 'node_module_not_found',
      severity: 'warning',
    })
    expect(first('cat notes.log', 0, "Error: Cannot find module 'x'")).toMatchObject({
      code: 'node_module_not_found',
      severity: 'info',
    })
    expect(found(ran('npm test', 0, "tested: Error: Cannot find module 'x'"))).toEqual([])
  })

  test('words of documents and sources are not failures, nor is the output of passed tests', () => {
    const words =
      "Error: Cannot find module 'x'\nlisten EADDRINUSE: address already in use :::3000\nFAILED tests/test_a.py::test_b - x\nKilled"
    for (const command of [
      'cat README.md',
      'sed -n 1,80p docs/faq.md',
      'rg EADDRINUSE src || true',
      'git show HEAD',
      'git diff main',
    ])
      expect(found(ran(command, 0, words)), command).toEqual([])
    expect(first('tail -50 /tmp/npm-test.txt', 0, words)).toMatchObject({ severity: 'info' })
    const logged =
      'console.error\n  Error: connect ECONNREFUSED 127.0.0.1:5432\nPASS src/a.test.js\nTests:       12 passed, 12 total'
    expect(found(ran('npm test 2>&1 | tail', 0, logged))).toEqual([])
    expect(
      first('node server.js 2>&1 | head', 0, 'Error: connect ECONNREFUSED 127.0.0.1:5432'),
    ).toMatchObject({ severity: 'warning' })
  })

  test('names of tests are not errors, regardless of their words', () => {
    const names = [
      " ✓ src/load.test.ts > says Error: Cannot find module 'x' 3ms",
      '   × src/disk.test.ts > tells of ENOSPC: no space left on device 12ms',
      '  ✕ refuses with Permission denied (4 ms)',
      'ok 3 - reports that docker: command not found',
      '--- PASS: TestKilled/no_space_left_on_device (0.00s)',
      'test net::refused - Temporary failure in name resolution ... ok',
      'tests/test_a.py::test_says[Cannot allocate memory] PASSED                 [ 50%]',
    ]
    const failed =
      ' FAIL  src/disk.test.ts > tells of ENOSPC: no space left on device\nAssertionError: expected 3 to be 4'
    expect(found(ran('npm test', 1, [...names, failed].join('\n'))).map(({ code }) => code)).toEqual([
      'failing_tests',
      'node_uncaught',
      'command_failed',
    ])
    expect(first('uv sync', 1, '  × No solution found when resolving dependencies:')?.code).toBe(
      'python_resolution',
    )
  })

  test('a reason of the sandbox', () => {
    const output = (more: Record<string, unknown>) => ({
      tool_output: { status: 'error', exit_code: null, output: '', ...more },
    })
    expect(found(ran('make -j64', 1, '', output({ exit_code: 137, memory_kills: 2 })))[0]?.code).toBe(
      'out_of_memory',
    )
    const result = output({
      exit_code: 2,
      memory_kills: 1,
      output: 'cc1plus: fatal error: Killed signal terminated program',
    })
    expect(found(ran('make -j64', 2, '', result)).map(({ code }) => code)).toEqual([
      'out_of_memory',
      'command_failed',
    ])
    for (const error of [
      'The workspace uses 600 MiB; the limit is 500 MiB.',
      'The workspace has 90 files; the limit is 80.',
      'The workspace holds 600 MiB, and may hold 500.',
    ])
      expect(found(ran('fill', 1, '', output({ error })))[0]?.code).toBe('disk_limit')
    expect(
      found(
        ran(
          'sleep 1h',
          1,
          '',
          output({ status: 'timeout', error: 'The command ran longer than 5 s and was killed.' }),
        ),
      )[0]?.code,
    ).toBe('command_timeout')
    expect(
      found(
        ran('test', 1, '', {
          ...output({ error: 'It was not done after 9 s.' }),
          tool_name: 'check',
          tool_input: { name: 'ci', command: 'test' },
        }),
      )[0]?.code,
    ).toBe('command_timeout')
  })

  test('hostile text stays text: bounded, well formed, and no message of the service', () => {
    const hostile = [
      `${'a'.repeat(200_000)}`,
      `error: ${'('.repeat(50_000)}`,
      `Cannot find module '${"Cannot find module '".repeat(9_000)}`,
      `${'FAIL  a > '.repeat(20_000)}`,
      `\u001b]${'0;\u001b]'.repeat(30_000)}`,
      `error: \ud800 $1 $2 \u0000`,
      `${`not ok 1 - ${'x '.repeat(400)}\n`.repeat(200)}`,
      `thread '${"' panicked at '".repeat(8_000)}`,
      `${'ENOENT: no such file or directory, open '.repeat(4_000)}`,
      `${`${'1'.repeat(900)}:1:1\n`.repeat(200)}`,
    ]
    for (const output of hostile)
      for (const one of found(ran('x', 1, output))) {
        expect(JSON.stringify(one).length).toBeLessThan(20_000)
        expect(one.message.isWellFormed()).toBe(true)
        expect(one.excerpt?.isWellFormed() ?? true).toBe(true)
      }
  })
})
