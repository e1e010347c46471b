'use strict';
// Loads the native part. It binds to its own OpenSSL, zlib and nghttp2 and not to node's (RTLD_DEEPBIND), and to node's
// libuv, which it has no other of.
const fs = require('fs');
const os = require('os');
const path = require('path');

const HERE = path.resolve(__dirname, '..');

function refuse(why) {
  throw new Error(`sloop: ${why}`);
}

function isMusl() {
  const { report } = process;
  if (report === undefined) return false;
  const { excludeNetwork } = report;
  if (excludeNetwork !== undefined) report.excludeNetwork = true; // else it looks up the names of all peers, and waits
  const { header } = report.getReport();
  if (excludeNetwork !== undefined) report.excludeNetwork = excludeNetwork;
  return !header.glibcVersionRuntime;
}

function binary() {
  const prebuilt = () => path.join(HERE, 'prebuilds', `linux-${process.arch}${isMusl() ? '-musl' : ''}`, 'sloop.node');
  const built = path.join(HERE, 'sloop.node');
  if (fs.existsSync(built)) return built;
  const found = prebuilt();
  if (fs.existsSync(found)) return found;
  return refuse(`there is no binary for linux-${process.arch}: neither ${built} nor ${found}; npm rebuild sloop makes one`);
}

// Refuses a shared libcurl that another add-on loaded before. The loader gives this package the same libcurl, which is bound to
// node's OpenSSL and zlib if that add-on did not use RTLD_DEEPBIND. Where node's OpenSSL has another ABI, the first TLS connection
// would crash. Libcurl tells the versions that it calls, and running() those that this package calls: they must be equal.
function checkBindings(libraries) {
  for (const [name, word] of [['libcrypto', 'OpenSSL'], ['zlib', 'zlib']]) {
    const called = new RegExp(`\\b${word}/(\\S+)`).exec(libraries.libcurl?.version);
    const own = libraries[name];
    if (called && own && called[1] !== own.version) {
      refuse(`another add-on loaded ${libraries.libcurl.file} before, so that it calls ${word} ${called[1]} and not ` +
        `${own.version} of ${own.file}. Load sloop before that add-on, or take a package that has its own libcurl inside`);
    }
  }
}

function load() {
  if (process.versions.bun !== undefined) {
    refuse('Bun is not supported: its libuv is a stub. Use node 18 or newer');
  }
  if (process.versions.deno !== undefined || globalThis.Deno !== undefined) {
    refuse('Deno is not supported: it lacks functions of libuv. Use node 18 or newer');
  }
  if (process.platform !== 'linux') refuse(`${process.platform} is not supported, only Linux`);
  if (Number(process.versions.node.split('.')[0]) < 18) refuse(`node ${process.versions.node} is too old: 18 or newer is needed`);
  const file = binary();
  const holder = { exports: {} };
  const { RTLD_NOW, RTLD_DEEPBIND } = os.constants.dlopen;
  try {
    process.dlopen(holder, file, RTLD_NOW | (RTLD_DEEPBIND ?? 0));
  } catch (error) {
    throw new Error(`sloop: ${file} can't be loaded: ${error.message}`, { cause: error });
  }
  const native = holder.exports;
  native.libraries = () => Object.fromEntries(native.running().trimEnd().split('\n').map((line) => {
    const [name, version, where] = line.split('\t');
    return [name, { version, file: where === process.argv0 ? process.execPath : where }];
  }));
  checkBindings(native.libraries());
  return native;
}

module.exports = load();
