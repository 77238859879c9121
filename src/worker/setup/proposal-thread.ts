import { parentPort, workerData } from 'node:worker_threads'
import type { Toolchain } from '../../setup-detection/proposal.ts'
import { propose } from '../../setup-detection/propose.ts'
import type { Tree } from '../../setup-detection/tree.ts'

const { tree, toolchain } = workerData as { tree: Tree; toolchain: Toolchain }
parentPort?.postMessage(propose(tree, toolchain))
