import { expect, test } from 'vitest'
import { checkCluster, type ServiceProcess } from './cluster-checks.ts'

const process_of = (changed: Partial<ServiceProcess>): ServiceProcess => ({
  role: 'serve',
  host: 'a',
  pid: 1,
  version: '1.0.0',
  newest_migration: '0001_x.sql',
  folder_id: 'f1',
  key_id: 'k1',
  base_url: 'https://a.example',
  clock_ahead_ms: 0,
  seen_seconds: 3,
  ...changed,
})
const worker = process_of({ role: 'work', pid: 2, folder_id: 'f2' })
const faultsOf = (...processes: ServiceProcess[]) =>
  checkCluster(processes, ({ pid }) => `process ${pid}`)
    .filter(({ state }) => state !== 'ok')
    .map(({ state, check }) => `${state} ${check}`)

test('processes that fit together have no fault, alone and as a cluster', () => {
  expect(faultsOf(process_of({ role: 'all', base_url: null }))).toEqual([])
  expect(faultsOf(process_of({}), worker)).toEqual([])
  expect(faultsOf(process_of({ base_url: null }), worker)).toEqual([])
  // As `npm start` starts them.
  expect(faultsOf(process_of({}), process_of({ role: 'work', pid: 2 }))).toEqual([])
})

test.each<[string, ServiceProcess[], string[]]>([
  ['no process', [], ['broken processes']],
  ['no API', [worker], ['broken processes']],
  ['no worker', [process_of({})], ['broken processes']],
  [
    'a silent process',
    [process_of({}), worker, process_of({ pid: 3, seen_seconds: 31, key_id: 'k2' })],
    ['warning processes'],
  ],
  ['another version', [process_of({ version: '1.0.1' }), worker], ['warning versions']],
  ['another schema', [process_of({ newest_migration: '0002_x.sql' }), worker], ['warning versions']],
  ['a clock behind', [process_of({ clock_ahead_ms: -2_001 }), worker], ['broken clocks']],
  ['another key', [process_of({ key_id: 'k2' }), worker], ['broken keys']],
  ['a copied data folder', [process_of({}), worker, process_of({ pid: 3 })], ['broken data folders']],
  ['a folder of two workers', [process_of({}), worker, { ...worker, pid: 3 }], ['broken data folders']],
  [
    'a folder of a worker and of a process with both roles',
    [process_of({ role: 'all', folder_id: 'f2' }), worker],
    ['broken data folders'],
  ],
  ['a folder on two machines', [process_of({ host: 'b', folder_id: 'f2' }), worker], ['broken data folders']],
  ['another address', [process_of({ base_url: 'https://b.example' }), worker], ['warning addresses']],
])('%s is found', (_name, processes, faults) => expect(faultsOf(...processes)).toEqual(faults))
