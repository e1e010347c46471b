'use strict';
// npm's install script: takes the prebuilt binary that the package brings, or builds sloop.node from the sources in it, which
// npm install --build-from-source asks for.
// --sources puts those sources into the package before npm packs it, --no-sources removes them.
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const HERE = __dirname;
const TREE = path.resolve(HERE, '..', '..', '..');
const SOURCES = path.join(HERE, 'sources');
const PARTS = ['meson.build', 'meson_options.txt', 'LICENSE', 'include', 'src', 'test/contract/embed']; // the last: examples

/** Why the package can't be loaded; null: it can. */
function whyNotLoadable() {
  const index = JSON.stringify(path.join(HERE, 'index.js'));
  const program = `try { require(${index}) } catch (error) { console.error(error.message); process.exit(1) }`;
  try {
    execFileSync(process.execPath, ['-e', program], { stdio: 'pipe' });
    return null;
  } catch (error) {
    return String(error.stderr).trim() || error.message;
  }
}

const isInPath = (name) => (process.env.PATH ?? '').split(path.delimiter).some((folder) => fs.existsSync(path.join(folder, name)));

/** What was built is no source, and of the package for Python only what meson reads. */
function isSource(file) {
  const name = path.relative(TREE, file);
  if (name.startsWith('src/bind/python/')) return name.endsWith('/meson.build') || name === 'src/bind/python/sloop';
  const apart = ['src/bind/node/sources', 'src/bind/node/node_modules', 'src/bind/node/prebuilds',
    'src/bind/node/native-build', 'src/bind/node/sloop.node'];
  return !apart.some((one) => name === one || name.startsWith(`${one}/`)) && path.basename(name) !== '__pycache__';
}

/** fs.cpSync() copies nothing into a folder below itself. */
function copy(from, to) {
  if (!isSource(from)) return;
  if (!fs.statSync(from).isDirectory()) {
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.copyFileSync(from, to);
    return;
  }
  for (const name of fs.readdirSync(from)) copy(path.join(from, name), path.join(to, name));
}

function copySources() {
  fs.rmSync(SOURCES, { recursive: true, force: true });
  for (const part of PARTS) copy(path.join(TREE, part), path.join(SOURCES, part));
}

const NEEDS = 'Building it from source needs a C compiler, meson, ninja, and the headers of libuv, libcurl, OpenSSL and zlib (Debian: ' +
  'meson gcc libuv1-dev libcurl4-openssl-dev libssl-dev zlib1g-dev; Alpine: meson gcc musl-dev libuv-dev curl-dev openssl-dev zlib-dev)';

/** Builds sloop.node. `why` says why the package has none that can be loaded. */
function build(why) {
  const from = fs.existsSync(path.join(SOURCES, 'meson.build')) ? SOURCES : TREE;
  if (!fs.existsSync(path.join(from, 'src', 'bind', 'node', 'nd_module.c'))) {
    throw new Error(`${why}\nsloop: there are no sources to build it from`);
  }
  const compilers = process.env.CC ? [process.env.CC.trim().split(/\s+/)[0]] : ['cc', 'gcc', 'clang'];
  const missing = ['meson', 'ninja'].filter((name) => !isInPath(name));
  if (!compilers.some((name) => isInPath(name) || fs.existsSync(name))) missing.push('a C compiler');
  if (missing.length > 0) throw new Error(`${why}\nsloop: not found here: ${missing.join(', ')}. ${NEEDS}`);
  const folder = path.join(HERE, 'native-build');
  const off = ['tests', 'bench', 'cli', 'sandbox', 'python'].map((name) => `-D${name}=disabled`);
  fs.rmSync(folder, { recursive: true, force: true });
  try {
    execFileSync('meson', ['setup', folder, from, '-Dnode=enabled', `-Dnode_binary=${process.execPath}`, '-Dpkgconfig.relocatable=false',
      '-Doptimization=2', '-Ddebug=false', '-Db_ndebug=false', ...off], { stdio: 'inherit' });
    execFileSync('ninja', ['-C', folder, 'node-package'], { stdio: 'inherit' });
  } catch (error) {
    throw new Error(`${why}\nsloop: building it from source failed. ${NEEDS}: ${error.message}`);
  }
  fs.copyFileSync(path.join(folder, 'src', 'bind', 'node', 'sloop.node'), path.join(HERE, 'sloop.node'));
  fs.rmSync(folder, { recursive: true, force: true });
}

function install() {
  const asked = ['true', 'sloop'].includes(process.env.npm_config_build_from_source);
  const why = asked ? 'sloop: --build-from-source asks for it' : whyNotLoadable();
  if (why === null) return;
  build(why);
  const still = whyNotLoadable();
  if (still !== null) throw new Error(still);
}

if (process.argv[2] === '--sources') copySources();
else if (process.argv[2] === '--no-sources') fs.rmSync(SOURCES, { recursive: true, force: true });
else {
  try {
    install();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
