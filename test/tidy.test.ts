// The house rules that a machine can check, read from the files as they lie in the tree: the arrows between the folders, the
// fence around protocol code, sizes, names, opening comments, no skipped tests, no trace of the machine that it was written on.
// Each rule is a function from a file to what is wrong with it, line by line, and is itself tried on a small bad file first.
// Code is told from comments by TypeScript's own parser. Style within a line is the linter's business, not this test's.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

interface SourceFile {
  /** From the root, with "/" between folders. */
  path: string
  text: string
  /** The text with all but its code blanked, the insides of strings too; lines and columns stay. The whole text where it is no TypeScript or JavaScript. */
  code: string
  /** The text with all but its comments blanked, likewise. */
  comments: string
  imports: Array<{ specifier: string, line: number }>
}
interface Violation { line: number, what: string }
type Rule = (file: SourceFile) => Violation[]

const root = fileURLToPath(new URL('..', import.meta.url))
/** Each imports itself and those to its left. */
const folders = ['overlay', 'storage', 'balancing', 'node', 'testnet', 'test']
const protocolFolders = ['overlay', 'storage', 'balancing']
const linesMax = 400
/** Never tracked, beside what .gitignore names. */
const neverTracked = ['.git', 'node_modules', 'dist']

const isScript = (path: string) => /\.(?:ts|mts|mjs|js|cjs)$/.test(path)
const isSource = (path: string) => isScript(path) || /\.(?:proto|sh)$/.test(path)
const isGenerated = (path: string) => /(?:^|\/)wire\/[^/]+\.ts$/.test(path)
const isData = (path: string) => /\.(?:json|geojson|ndjson|csv|txt|svg|png|hex)$/.test(path)
const topFolder = (path: string) => path.includes('/') ? path.slice(0, path.indexOf('/')) : ''
const isProtocol = (path: string) => protocolFolders.includes(topFolder(path)) && isScript(path)

/** Every match of the pattern (which needs the flag g), with its line. */
function matchesOf (text: string, pattern: RegExp, what: (match: string) => string): Violation[] {
  return [...text.matchAll(pattern)].map(match => ({ line: lineAt(text, match.index), what: what(match[0].trim()) }))
}

function lineAt (text: string, position: number): number {
  return text.slice(0, position).split('\n').length
}

const arrows: Rule = ({ path, imports }) => imports.flatMap(({ specifier, line }) => {
  const from = folders.indexOf(topFolder(path))
  if (from < 0 || !specifier.startsWith('.')) return []
  const target = posix.join(posix.dirname(path), specifier)
  const to = folders.indexOf(topFolder(`${target}/`))
  if (target.startsWith('..')) return [{ line, what: `reaches out of the project with ${specifier}` }]
  if (to > from) return [{ line, what: `${folders[from]}/ may not import ${folders[to]}/ (${specifier}); the order is ${folders.join(' <- ')}` }]
  return []
})

const fenced = new RegExp([
  String.raw`(?<![.\w])(?:Date\s*[.(]|new\s+Date\b|performance\s*\.|process\s*\.|Buffer\b|queueMicrotask\b)`,
  String.raw`(?<!\w)(?:Math\.random|AbortSignal\.timeout|crypto\.subtle|localeCompare)\b`,
  String.raw`(?<![.\w])(?:setTimeout|setInterval|setImmediate)\b`
].join('|'), 'g')
const outsiders = new Set([...builtinModules, 'libp2p', 'classic-level', 'fastify'])

const isOutside = (specifier: string) => /^(?:node:|@libp2p\/)/.test(specifier) || outsiders.has(specifier)

const fence: Rule = ({ path, code, imports }) => !isProtocol(path)
  ? []
  : [
      ...matchesOf(code, fenced, word => `has ${word} inside the fence of ${protocolFolders.join(', ')}; ask overlay/host.ts or overlay/store.ts`),
      ...imports.filter(({ specifier }) => isOutside(specifier)).map(({ specifier, line }) => ({ line, what: `imports ${specifier} inside the fence` }))
    ]

const place: Rule = ({ path }) => isSource(path) && topFolder(path) !== '' && !folders.includes(topFolder(path))
  ? [{ line: 1, what: `source outside of ${folders.join(', ')}` }]
  : []

const size: Rule = ({ path, text }) => {
  const lines = text.trimEnd().split('\n').length
  return lines <= linesMax || isData(path) || isGenerated(path) ? [] : [{ line: linesMax + 1, what: `has ${lines} lines; at most ${linesMax}` }]
}

const names: Rule = ({ path }) => path.split('/').flatMap(part => {
  const name = part.replace(/\..*$/, '')
  return /^(?:utils|common|types|manager|helpers)$/i.test(name) ? [{ line: 1, what: `${part} says nothing; name it by its noun or verb` }] : []
})

const opening: Rule = ({ path, text }) => {
  if (!isSource(path) || isGenerated(path)) return []
  const line = text.startsWith('#!') ? 2 : 1
  return /^(?:\/\/|\/\*|#)/.test(text.split('\n')[line - 1] ?? '') ? [] : [{ line, what: 'does not open with a comment' }]
}

const skipped: Rule = ({ path, code }) => topFolder(path) !== 'test' || !isScript(path)
  ? []
  : matchesOf(code, /(?<![.\w])(?:it|describe|context|specify)\s*\.\s*(?:skip|only)\b|(?<![.\w])x(?:it|describe|context)\s*\(|\bthis\.skip\s*\(/g, word => `leaves tests out with ${word}`)

const registry: Rule = ({ path, text }) => path !== 'package-lock.json'
  ? []
  : matchesOf(text, /"resolved":\s*"[^"]*:\/\/[^"]*"/g, host => `names a registry host: ${host}`)

/** Where the product itself may live (/usr, /etc, /var, /opt, /data, /proc) is not meant; these are folders of somebody's own. */
const machinePaths: Rule = ({ text }) =>
  matchesOf(text, /(?<![\w.~)\]}>-])\/(?:work|root|home|Users|tmp|mnt)\/[\w.$-]+|\b[A-Z]:\\\w+/g, path => `names a path of one machine: ${path}`)

/** Words about how a text came to be. In code an HTTP client may have an agent, and a fill is a session: so only some phrases of that. */
const origins: Rule = ({ path, text, comments }) => isData(path) || path === 'test/tidy.test.ts'
  ? []
  : [
      ...matchesOf(comments, /(?<!(?:user|https?|proxy)[ .-])\b(?:sub)?agents?\b|\bprompt(?:s|ed)?\b|\b(?:this|coding|work(?:ing)?|previous|earlier|parallel) sessions?\b|\b(?:by|from) (?:a|the|another) session\b/gi, word => `speaks of "${word}"`),
      ...matchesOf(text, /\b(?:claude|anthropic|openai|chatgpt|copilot|LLMs?|language models?)\b/gi, word => `speaks of "${word}"`)
    ]

/** A page, perhaps with titles of it in quotes: `docs/a.md, "One" and "Two"`. A page of the web is not meant. */
const citation = /(?<![\w./:-])(?<page>[\w./-]+\.md)\b(?!["'])(?<titles>(?:(?:,| and|, and) "[^"\n]+")*)/g
const link = /\]\((?<target>[^()\s]*)\)/g

/** Comments and pages name only pages that are there, with the titles that they have; links within the project lead somewhere. */
const citations: Rule = ({ path, comments }) => {
  const isPage = path.endsWith('.md')
  if ((!isPage && !isScript(path)) || path === 'test/tidy.test.ts') return []
  // Comments as one text, so that a title may go over the end of a line; as long as before, so that positions stay.
  const text = isPage ? comments : comments.replace(/\n[ /*]*(?=\S)/g, gap => ' ' + '\u0000'.repeat(gap.length - 1))
  const told: Violation[] = []
  for (const { groups, index } of text.matchAll(citation)) {
    const page = [groups?.['page'] ?? '', posix.join(posix.dirname(path), groups?.['page'] ?? '')].find(at => existsSync(`${root}/${at}`))
    const titles = [...(groups?.['titles'] ?? '').matchAll(/"(?<title>[^"]+)"/g)].map(match => (match.groups?.['title'] ?? '').replaceAll('\u0000', ''))
    if (page === undefined) told.push({ line: lineAt(comments, index), what: `cites ${groups?.['page']}, which is not there` })
    else for (const title of titles) if (!titlesOf(page).includes(title)) told.push({ line: lineAt(comments, index), what: `cites "${title}", which is no title of ${page}` })
  }
  for (const { groups, index } of isPage ? text.matchAll(link) : []) {
    const [target = '', anchor] = (groups?.['target'] ?? '').split('#')
    if (/^[a-z]+:/.test(target)) continue
    const at = target === '' ? path : posix.join(posix.dirname(path), target)
    if (!existsSync(`${root}/${at}`)) told.push({ line: lineAt(comments, index), what: `links to ${at}, which is not there` })
    else if (anchor !== undefined && !titlesOf(at).map(anchorOf).includes(anchor)) told.push({ line: lineAt(comments, index), what: `links to #${anchor}, which is no title of ${at}` })
  }
  return told
}

function titlesOf (page: string): string[] {
  return [...readFileSync(`${root}/${page}`, 'utf8').matchAll(/^#+ +(?<title>.+)$/gm)].map(match => (match.groups?.['title'] ?? '').trim())
}

/** As GitHub makes it of a title. */
function anchorOf (title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
}

const rules: Record<string, Rule> = { arrows, fence, place, size, names, opening, skipped, registry, machinePaths, origins, citations }

/** Reads a file's code, comments and imports. Only whitespace and comments lie between the leaves of a syntax tree. */
function taken (path: string, text: string): SourceFile {
  if (!isScript(path)) return { path, text, code: text, comments: text, imports: [] }
  const kinds = new Array<'code' | 'string' | 'comment'>(text.length).fill('comment')
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const visit = (node: ts.Node) => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return
    const children = node.getChildren(tree)
    const isText = ts.isStringLiteralLike(node) || ts.isRegularExpressionLiteral(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
    if (children.length === 0) kinds.fill(isText ? 'string' : 'code', node.getStart(tree), node.getEnd())
    else children.forEach(visit)
  }
  visit(tree)
  const only = (kind: string) => text.split('').map((unit, i) => unit === '\n' || kinds[i] === kind ? unit : ' ').join('')
  const imports = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName, pos }) => ({ specifier: fileName, line: lineAt(text, pos) }))
  return { path, text, code: only('code'), comments: only('comment'), imports }
}

/** The files that git would track: all but what .gitignore names. Of its syntax, only "folder/" and "*.ending" are known here. */
function trackedFiles (): SourceFile[] {
  const ignored = readFileSync(`${root}/.gitignore`, 'utf8').split('\n').map(line => line.trim()).filter(line => line !== '' && !line.startsWith('#'))
  for (const line of ignored) assert.match(line, /^(?:\/?[\w.-]+\/?|\*\.[\w.]+)$/, `.gitignore: "${line}" is more than this test understands`)
  const plain = new Set([...neverTracked, ...ignored.filter(line => !line.startsWith('*')).map(line => line.replaceAll('/', ''))])
  const endings = ignored.filter(line => line.startsWith('*')).map(line => line.slice(1))
  const walk = (folder: string): string[] => readdirSync(`${root}/${folder}`, { withFileTypes: true }).flatMap(entry => {
    const path = posix.join(folder, entry.name)
    if (plain.has(entry.name) || endings.some(ending => entry.name.endsWith(ending))) return []
    return entry.isDirectory() ? walk(path) : entry.isFile() ? [path] : []
  })
  return walk('.').sort().map(path => {
    const bytes = readFileSync(`${root}/${path}`)
    return taken(path, bytes.includes(0) ? '' : bytes.toString('utf8'))
  })
}

/** Rule, path, text, and the lines that the rule must name; written in pieces where this file would else break the rule itself. */
const tried: Array<[rule: string, path: string, text: string, lines: number[]]> = [
  ['arrows', 'overlay/a.ts', "// x\nimport { b } from '../storage/b.ts'\nimport type { c } from './graph/c.ts'", [2]],
  ['arrows', 'storage/records/a.ts', "// '../../node/x.ts'\nexport * from '../../overlay/key.ts'\nconst x = await import('../../node/x.ts')", [3]],
  ['arrows', 'node/a.ts', "import {\n  b\n} from '../testnet/b.ts'\nimport '../../other/c.ts'", [3, 4]],
  ['arrows', 'test/a.test.ts', "import '../testnet/b.ts'\nimport '../overlay/c.ts'", []],
  ['fence', 'overlay/a.ts', "// Date.now() and 'node:fs'\n/* setTimeout */\nconst now = Date.now()", [3]],
  ['fence', 'overlay/a.ts', '/** Math.random() */\nconst a = `${Math.random()}`\nnew Date()\nperformance.now()', [2, 3, 4]], // eslint-disable-line no-template-curly-in-string
  ['fence', 'storage/a.ts', 'setTimeout(f, 1)\nsetInterval(f)\nsetImmediate(f)\nqueueMicrotask(f)\nAbortSignal.timeout(1)\ncrypto.subtle\na.localeCompare(b)', [1, 2, 3, 4, 5, 6, 7]],
  ['fence', 'balancing/a.ts', "import 'node:fs'\nimport { x } from '@libp2p/tcp'\nimport 'fs'\nBuffer.from('')\nprocess.env\nimport 'fastify'", [1, 2, 3, 4, 5, 6]],
  ['fence', 'overlay/a.ts', 'this.performance.mean\nprocessed.add(a)\nUpdate.now()\nhost.setTimeout(1)', []],
  ['fence', 'node/a.ts', 'Date.now()', []],
  ['place', 'lib/a.ts', '// x', [1]],
  ['place', 'docs/a.md', 'x', []],
  ['place', 'eslint.config.mjs', '// x', []],
  ['size', 'node/a.ts', '//\n'.repeat(401), [401]],
  ['size', 'node/a.ts', '//\n'.repeat(400), []],
  ['size', 'overlay/wire/a.ts', '//\n'.repeat(401), []],
  ['size', 'testnet/data/a.json', '\n'.repeat(401) + '1', []],
  ['names', 'overlay/utils.ts', '', [1]],
  ['names', 'overlay/types/a.ts', '', [1]],
  ['names', 'balancing/helper.ts', '', []],
  ['names', 'test/helpers.test.ts', '', [1]],
  ['opening', 'node/a.ts', "import 'b'", [1]],
  ['opening', 'node/a.mjs', '#!/usr/bin/env node\nrun()', [2]],
  ['opening', 'node/a.mjs', '#!/usr/bin/env node\n// What it does.', []],
  ['skipped', 'test/a.test.ts', "it.skip('', f)\ndescribe.only('', f)\nxit('', f)\n// it.only\nthis.skip()\nit('', f)", [1, 2, 3, 5]],
  ['registry', 'package-lock.json', '{\n"resolved": "https://registry.npmjs.org/a.tgz",\n"url": "https://a.org"\n}', [2]],
  ['machinePaths', 'docs/a.md', `see\n${'/home'}/ann/x and ~/x\nGET /v1${'/work'}/x and https://a.b${'/home'}/x\n${'/tmp'}/y`, [2, 4]],
  ['origins', 'node/a.ts', '// written by a session\nconst agent = new http.Agent()\n// the user agent, promptly\n// A fill is a session.', [1]],
  ['origins', 'README.md', 'x\nby agents\nClaude', [2, 3]],
  ['citations', 'node/a.ts', '// See gone.md, and docs/architecture.md.\nconst page = "gone.md" // docs/gone.md', [1, 2]],
  ['citations', 'node/a.ts', '// x (docs/architecture.md, "The one idea"), https://a.org/gone.md\n// docs/ownership.md, "Terms" and "No such title"', [2]],
  ['citations', 'node/a.ts', '/**\n * As docs/ownership.md, "One\n * truth" and "One\n * lie" say.\n */', [2]],
  ['citations', 'docs/a.md', '[a](places.md#the-curve) [b](#x)\n[c](../README.md)\n[d](gone.ts) [e](https://a.org)\n[f](places.md#gone)', [1, 3, 4]]
]

describe('the rules of tidiness', () => {
  for (const [name, path, text, lines] of tried) {
    it(`${name}: ${lines.length === 0 ? 'lets pass' : `names line ${lines.join(', ')} of`} ${path} with ${JSON.stringify(text.slice(0, 40))}`, () => {
      const found = rules[name]?.(taken(path, text)).map(violation => violation.line)
      assert.deepEqual([...new Set(found)].sort((a, b) => a - b), lines)
    })
  }
})

describe('the tree', () => {
  let files: SourceFile[]
  before(() => { files = trackedFiles() })

  it('was found', () => assert(files.some(file => file.path === 'test/tidy.test.ts') && files.some(file => file.path === 'package.json')))

  for (const [name, rule] of Object.entries(rules)) {
    it(`keeps the rule of ${name}`, () => {
      const told = files.flatMap(file => rule(file).map(({ line, what }) => `${file.path}:${line} ${what}`))
      assert(told.length === 0, `\n${told.join('\n')}\n`)
    })
  }
})
