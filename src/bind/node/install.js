'use strict';
// npm's install script: takes the prebuilt binary that the package brings, or builds sloop.node from the sources in it.
// --sources puts those sources into the package before npm packs it, --no-sources removes them.
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const HERE = __dirname;
const TREE = path.resolve(HERE, '..', '..', '..');
const SOURCES = path.join(HERE, 'sources');
const PARTS = ['meson.build', 'meson_options.txt', 'LICENSE', 'include', 'src'];

function isLoadable() {
  try {
    execFileSync(process.execPath, ['-e', `require(${JSON.stringify(path.join(HERE, 'index.js'))})`], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

/** The language packages of others and what was built are no sources of this one. */
function isSource(file) {
  const name = path.relative(TREE, file);
  const apart = ['src/bind/python', 'src/bind/node/sources', 'src/bind/node/node_modules', 'src/bind/node/prebuilds',
    'src/bind/node/native-build', 'src/bind/node/sloop.node'];
  return !apart.some((one) => name === one || name.startsWith(`${one}/`)) && path.basename(name) !== '__pycache__';
}

function copySources() {
  fs.rmSync(SOURCES, { recursive: true, force: true });
  for (const part of PARTS) fs.cpSync(path.join(TREE, part), path.join(SOURCES, part), { recursive: true, filter: isSource });
}

function build() {
  const from = fs.existsSync(path.join(SOURCES, 'meson.build')) ? SOURCES : TREE;
  if (!fs.existsSync(path.join(from, 'src', 'bind', 'node', 'nd_module.c'))) {
    throw new Error(`sloop: there is no binary for linux-${process.arch} in the package, and there are no sources`);
  }
  const folder = path.join(HERE, 'native-build');
  const off = ['tests', 'bench', 'cli', 'sandbox', 'python'].map((name) => `-D${name}=disabled`);
  fs.rmSync(folder, { recursive: true, force: true });
  try {
    execFileSync('meson', ['setup', folder, from, '-Dnode=enabled', `-Dnode_binary=${process.execPath}`, '-Dpkgconfig.relocatable=false',
      '-Doptimization=2', '-Db_ndebug=false', ...off], { stdio: 'inherit' });
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
