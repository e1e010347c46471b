'use strict';
// npm's install script: takes the prebuilt binary that the package brings, or builds sloop.node from the sources in it.
// --sources puts those sources into the package before npm packs it, --no-sources removes them.
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const HERE = __dirname;
const TREE = path.resolve(HERE, '..', '..', '..');
const SOURCES = path.join(HERE, 'sources');
const PARTS = ['meson.build', 'meson_options.txt', 'LICENSE', 'include', 'src', 'test/contract/embed']; // the last: examples

function isLoadable() {
  try {
    execFileSync(process.execPath, ['-e', `require(${JSON.stringify(path.join(HERE, 'index.js'))})`], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

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

function build() {
  const from = fs.existsSync(path.join(SOURCES, 'meson.build')) ? SOURCES : TREE;
  if (!fs.existsSync(path.join(from, 'src', 'bind', 'node', 'nd_module.c'))) {
    throw new Error(`sloop: the package has no binary for linux-${process.arch} that can be loaded, and there are no sources`);
  }
  const folder = path.join(HERE, 'native-build');
  const off = ['tests', 'bench', 'cli', 'sandbox', 'python'].map((name) => `-D${name}=disabled`);
  fs.rmSync(folder, { recursive: true, force: true });
  try {
    execFileSync('meson', ['setup', folder, from, '-Dnode=enabled', `-Dnode_binary=${process.execPath}`, '-Dpkgconfig.relocatable=false',
      '-Doptimization=2', '-Ddebug=false', '-Db_ndebug=false', ...off], { stdio: 'inherit' });
    execFileSync('ninja', ['-C', folder, 'node-package'], { stdio: 'inherit' });
  } catch (error) {
    throw new Error('sloop: building from source failed. It needs a C compiler, meson, ninja, and the headers of libuv, libcurl, ' +
      `OpenSSL and zlib (Debian: meson gcc libuv1-dev libcurl4-openssl-dev libssl-dev zlib1g-dev): ${error.message}`);
  }
  fs.copyFileSync(path.join(folder, 'src', 'bind', 'node', 'sloop.node'), path.join(HERE, 'sloop.node'));
  fs.rmSync(folder, { recursive: true, force: true });
}

if (process.argv[2] === '--sources') copySources();
else if (process.argv[2] === '--no-sources') fs.rmSync(SOURCES, { recursive: true, force: true });
else if (!isLoadable()) {
  build();
  if (!isLoadable()) require('./index.js'); // says why
}
