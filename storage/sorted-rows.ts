// An ordered map from bytes to bytes that never changes: a write gives a new map, which shares with the old one all that
// it did not touch. So a snapshot is the map itself, and costs nothing to take or to keep.
// A B+-tree (Comer, "The ubiquitous B-tree", 1979, section 3) whose paths are copied (Driscoll et al., "Making data
// structures persistent", 1989, section 1). Unlike there, a node may be less than half full: deletes join neighbors
// only when both are nearly empty.

import { compareKeys, isEmpty } from '../overlay/interval.ts'
import type { Interval, Key } from '../overlay/interval.ts'
import type { Operation, Row, RowsOptions } from '../overlay/store.ts'
import { compareRowKey, cut, firstRowFrom, pack, rowOf, runBytes, valueOf } from './leaf.ts'
import type { Leaf, Run } from './leaf.ts'

/** Rows and bytes of a leaf, at most. Guess: a put packs one leaf anew, and a leaf costs about 400 bytes beside its rows. */
const leafRowsMax = 64
const leafBytesMax = 4096
/** Children of a branch, at most. Guess. */
const branchChildrenMax = 64

/** All children are of one height and hold at least one row. */
interface Branch {
  readonly children: readonly Tree[]
  /** The leftmost leaf: its first key is the lowest of the branch. */
  readonly firstLeaf: Leaf
  readonly bytesCount: number
}

type Tree = Leaf | Branch

export class SortedRows {
  static readonly empty: SortedRows = new SortedRows(undefined)
  readonly #root: Tree | undefined

  private constructor (root: Tree | undefined) {
    this.#root = root
  }

  /** A copy of the value of key, or undefined. */
  get (key: Key): Uint8Array | undefined {
    let tree = this.#root
    while (tree !== undefined && isBranch(tree)) tree = tree.children[childFor(tree, key)]
    return tree === undefined ? undefined : valueOf(tree, key)
  }

  /** The map after operations, done in order. */
  with (operations: readonly Operation[]): SortedRows {
    if (operations.length === 0) return this
    const sorted = operations.length > 1 ? sortedLastWins(operations) : operations
    return new SortedRows(rootOf(this.#root === undefined ? pieces(merge(undefined, sorted)) : write(this.#root, sorted)))
  }

  /** The map without the keys of interval. */
  without (interval: Interval): SortedRows {
    if (this.#root === undefined || isEmpty(interval)) return this
    return new SortedRows(rootOf(clear(this.#root, interval)))
  }

  /** Pages of options.pageRows rows of interval in key order, the last one shorter. */
  * pages (interval: Interval, options: RowsOptions): Generator<Row[]> {
    if (this.#root === undefined || isEmpty(interval)) return
    const reverse = options.reverse === true
    let page: Row[] = []
    for (const leaf of leavesIn(this.#root, interval, reverse)) {
      const [from, to] = rowsIn(leaf, interval)
      for (let step = 0; step < to - from; step++) {
        page.push(rowOf(leaf, reverse ? to - 1 - step : from + step))
        if (page.length < options.pageRows) continue
        yield page
        page = []
      }
    }
    if (page.length > 0) yield page
  }

  /** Bytes of the keys and values in interval. */
  bytesCount (interval: Interval): number {
    return this.#root === undefined || isEmpty(interval) ? 0 : bytesIn(this.#root, interval)
  }
}

function isBranch (tree: Tree): tree is Branch {
  return 'children' in tree
}

function firstLeaf (tree: Tree): Leaf {
  return isBranch(tree) ? tree.firstLeaf : tree
}

function bytesOf (tree: Tree): number {
  return isBranch(tree) ? tree.bytesCount : tree.bytes.length
}

function branchOf (children: readonly Tree[]): Branch {
  let bytesCount = 0
  for (const child of children) bytesCount += bytesOf(child)
  return { children, firstLeaf: firstLeaf(children[0]!), bytesCount }
}

/** Index of the child that holds key or would: the last whose lowest key is at most key, else the first. */
function childFor ({ children }: Branch, key: Key): number {
  let low = 1
  let high = children.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareRowKey(firstLeaf(children[middle]!), 0, key) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Indexes of the first and the last child that may hold keys of interval. */
function childrenIn (branch: Branch, { low, high }: Interval): [first: number, last: number] {
  return [childFor(branch, low), high === undefined ? branch.children.length - 1 : childFor(branch, high)]
}

/** The rows of leaf in interval, from (inclusive) to to (exclusive). */
function rowsIn (leaf: Leaf, { low, high }: Interval): [from: number, to: number] {
  return [firstRowFrom(leaf, low), high === undefined ? leaf.rowsCount : firstRowFrom(leaf, high)]
}

function * leavesIn (tree: Tree, interval: Interval, reverse: boolean): Generator<Leaf> {
  if (!isBranch(tree)) {
    yield tree
    return
  }
  const [first, last] = childrenIn(tree, interval)
  for (let step = 0; step <= last - first; step++) {
    yield * leavesIn(tree.children[reverse ? last - step : first + step]!, interval, reverse)
  }
}

function bytesIn (tree: Tree, interval: Interval): number {
  if (!isBranch(tree)) return runBytes(tree, ...rowsIn(tree, interval))
  const [first, last] = childrenIn(tree, interval)
  if (first === last) return bytesIn(tree.children[first]!, interval)
  let bytes = bytesIn(tree.children[first]!, interval) + bytesIn(tree.children[last]!, interval)
  for (let index = first + 1; index < last; index++) bytes += bytesOf(tree.children[index]!)
  return bytes
}

/** Sorted by key; of several with one key only the last. */
function sortedLastWins (operations: readonly Operation[]): Operation[] {
  const sorted = [...operations].sort((a, b) => compareKeys(a.key, b.key))
  return sorted.filter((operation, index) => index + 1 === sorted.length || compareKeys(operation.key, sorted[index + 1]!.key) !== 0)
}

/** tree after operations, which are sorted and of distinct keys, as none, one or several trees of the same height. */
function write (tree: Tree, operations: readonly Operation[]): Tree[] {
  if (!isBranch(tree)) return pieces(merge(tree, operations))
  const children: Tree[] = []
  let done = 0
  for (let start = 0; start < operations.length;) {
    const index = childFor(tree, operations[start]!.key)
    const end = index + 1 === tree.children.length ? operations.length : firstFrom(operations, start + 1, firstLeaf(tree.children[index + 1]!))
    keep(children, tree, done, index)
    for (const piece of write(tree.children[index]!, operations.slice(start, end))) append(children, piece)
    done = index + 1
    start = end
  }
  keep(children, tree, done, tree.children.length)
  return branches(children)
}

/** Index of the first operation from index from on whose key is at least the lowest of leaf. */
function firstFrom (operations: readonly Operation[], from: number, leaf: Leaf): number {
  let index = from
  while (index < operations.length && compareRowKey(leaf, 0, operations[index]!.key) > 0) index++
  return index
}

/** tree without the keys of interval, as none or one tree of the same height. */
function clear (tree: Tree, interval: Interval): Tree[] {
  if (!isBranch(tree)) {
    const [from, to] = rowsIn(tree, interval)
    return pieces([{ leaf: tree, from: 0, to: from }, { leaf: tree, from: to, to: tree.rowsCount }])
  }
  const [first, last] = childrenIn(tree, interval)
  const edges = first === last ? [first] : [first, last]
  const children: Tree[] = []
  keep(children, tree, 0, first)
  for (const index of edges) {
    for (const piece of clear(tree.children[index]!, interval)) append(children, piece)
  }
  keep(children, tree, last + 1, tree.children.length)
  return branches(children)
}

/** The rows of leaf after operations, which are sorted and of distinct keys. */
function merge (leaf: Leaf | undefined, operations: readonly Operation[]): Run[] {
  const runs: Run[] = []
  let from = 0
  for (const operation of operations) {
    if (leaf !== undefined) {
      const index = firstRowFrom(leaf, operation.key)
      if (index > from) runs.push({ leaf, from, to: index })
      const isThere = index < leaf.rowsCount && compareRowKey(leaf, index, operation.key) === 0
      from = isThere ? index + 1 : index
    }
    if (operation.type === 'put') runs.push({ row: operation })
  }
  if (leaf !== undefined && from < leaf.rowsCount) runs.push({ leaf, from, to: leaf.rowsCount })
  return runs
}

function pieces (runs: readonly Run[]): Leaf[] {
  return cut(pack(runs), leafRowsMax, leafBytesMax)
}

/** Append children from (inclusive) to to (exclusive) of branch, which are as they were. */
function keep (trees: Tree[], branch: Branch, from: number, to: number): void {
  if (from < to) append(trees, branch.children[from]!)
  for (let index = from + 1; index < to; index++) trees.push(branch.children[index]!)
}

/** Append tree, or make it one with the last of trees where both are small. */
function append (trees: Tree[], tree: Tree): void {
  const last = trees.at(-1)
  const both = last === undefined ? undefined : together(last, tree)
  if (both === undefined) trees.push(tree)
  else trees[trees.length - 1] = both
}

/** One tree with the rows of both where they fill less than a quarter of one. */
function together (a: Tree, b: Tree): Tree | undefined {
  if (isBranch(a) && isBranch(b)) {
    return a.children.length + b.children.length <= branchChildrenMax / 4 ? branchOf([...a.children, ...b.children]) : undefined
  }
  if (isBranch(a) || isBranch(b)) return undefined
  if (a.rowsCount + b.rowsCount > leafRowsMax / 4 || a.bytes.length + b.bytes.length > leafBytesMax / 4) return undefined
  return pack([{ leaf: a, from: 0, to: a.rowsCount }, { leaf: b, from: 0, to: b.rowsCount }])
}

/** trees under as few branches as hold them, evenly. */
function branches (trees: readonly Tree[]): Branch[] {
  const branchesCount = Math.ceil(trees.length / branchChildrenMax)
  const result: Branch[] = []
  for (let index = 0; index < branchesCount; index++) {
    const from = Math.floor(index * trees.length / branchesCount)
    const to = Math.floor((index + 1) * trees.length / branchesCount)
    result.push(branchOf(trees.slice(from, to)))
  }
  return result
}

/** One tree over trees, as low as can be. */
function rootOf (trees: readonly Tree[]): Tree | undefined {
  if (trees.length > 1) return rootOf(branches(trees))
  const [root] = trees
  return root !== undefined && isBranch(root) && root.children.length === 1 ? rootOf(root.children) : root
}
