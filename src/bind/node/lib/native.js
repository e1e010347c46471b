'use strict';
// Loads the native part. It calls its own OpenSSL, zlib and nghttp2 and not node's, but node's libuv, which it has no other
// of. A prebuilt binary has those libraries inside. One that was built with the system's gets them by RTLD_DEEPBIND.
const fs = require('fs');
const os = require('os');
const path = require('path');

const HERE = path.resolve(__dirname, '..');

function refuse(why) {
  throw new Error(`sloop: ${why}`);
}

function headerOfReport(report) {
  const { excludeNetwork } = report;
  if (excludeNetwork !== undefined) report.excludeNetwork = true; // else it looks up the names of all peers, and waits
  const { header } = report.getReport();
  if (excludeNetwork !== undefined) report.excludeNetwork = excludeNetwork;
  return header;
}
function isMusl() {
  return process.report !== undefined && !headerOfReport(process.report).glibcVersionRuntime;
}

/** The file to load, and whether the package brought it: then it has its own OpenSSL, zlib and nghttp2 inside. */
function binary() {
  const built = path.join(HERE, 'sloop.node');
  if (fs.existsSync(built)) return { file: built, prebuilt: false };
  const platform = `linux-${process.arch}${isMusl() ? '-musl' : ''}`;
  const folder = path.join(HERE, 'prebuilds');
  const file = path.join(folder, platform, 'sloop.node');
  if (fs.existsSync(file)) return { file, prebuilt: true };
  const others = fs.existsSync(folder) ? fs.readdirSync(folder).sort() : [];
  return refuse(`there is no binary for ${platform} (the package brings ${others.join(', ') || 'none'}), and none was built: ` +
    `node ${path.join(HERE, 'install.js')} builds it from source`);
}

/** Why a file can't be loaded. `why` is what the dynamic linker says. */
function explain(file, why) {
  const [, wanted] = /version `GLIBC_([\d.]+)' not found/.exec(why) ?? [];
  if (wanted === undefined) return `${file} can't be loaded: ${why}`;
  const { report } = process;
  const here = report === undefined ? '' : `, and this system has ${headerOfReport(report).glibcVersionRuntime}`;
  return `${file} needs glibc ${wanted} or newer${here}: use a newer system, or build it from source ` +
    `by node ${path.join(HERE, 'install.js')}`;
}

/** The text of the process's mappings; empty where there is no /proc, or `node --permission` does not allow to read it. */
function loadedFiles() {
  try {
    return fs.readFileSync('/proc/self/maps', 'latin1');
  } catch {
    return '';
  }
}

// Refuses to load a package that uses the system's libcurl into a process where another add-on loaded it, or the libssl that it
// uses, before. The loader would give this package the same files, which call node's OpenSSL and zlib if that add-on did not use
// RTLD_DEEPBIND. Where node's OpenSSL is another version, the first TLS connection ends the process.
function checkLoaded(file) {
  if (process.config.variables.node_shared_openssl) return; // node's OpenSSL is that of the system
  const loaded = loadedFiles();
  if (loaded.includes('/sloop.node')) return; // by another thread, which looked
  const files = [...new Set(loaded.match(/\/\S*\/lib(?:curl|ssl)[^/\s]*\.so\.\d\S*/g))];
  if (files.length === 0) return;
  const text = fs.readFileSync(file, 'latin1');
  const [curl] = /libcurl[\w-]*\.so\.\d+/.exec(text) ?? [];
  if (curl === undefined) return; // it is inside
  const [, number] = /lib(?:ssl|crypto)\.so\.([\d.]*\d)/.exec(text) ?? []; // of the OpenSSL that it uses
  const ours = [curl, ...(number === undefined ? [] : [`libssl.so.${number}`])];
  const before = files.find((one) => ours.some((name) => `${path.basename(one)}.`.startsWith(`${name}.`)));
  if (before) {
    refuse(`another add-on loaded ${before}, which calls node's OpenSSL since then and which this package would have to use. ` +
      'Load sloop before that add-on, or take a package that has its own libcurl inside');
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
  const { file, prebuilt } = binary();
  if (!prebuilt) checkLoaded(file);
  const holder = { exports: {} };
  const { RTLD_NOW, RTLD_DEEPBIND } = os.constants.dlopen;
  try {
    process.dlopen(holder, file, prebuilt ? RTLD_NOW : RTLD_NOW | (RTLD_DEEPBIND ?? 0));
  } catch (error) {
    throw new Error(`sloop: ${explain(file, error.message)}`, { cause: error });
  }
  return holder.exports;
}

module.exports = load();
