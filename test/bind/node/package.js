'use strict';
// The package as npm packs it: the sources in it build, and a prebuilt binary in it is taken.
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('./harness.js');
const { PACKAGE, toolPath } = require('./world.js');

const TREE = path.resolve(__dirname, '..', '..', '..', 'src', 'bind', 'node');
const where = fs.mkdtempSync(path.join(os.tmpdir(), 'sloop-pack-'));
after(() => fs.rmSync(where, { recursive: true, force: true }));

/** Runs a program in a folder. Returns what it prints; what it says on stderr is in a failure. */
function call(cwd, program, ...args) {
  return callWith({}, cwd, program, ...args);
}
function callWith(env, cwd, program, ...args) {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe', env: { ...process.env, ...env } });
  } catch (error) {
    throw new Error(`${program} ${args}: ${error.stdout}\n${error.stderr}`);
  }
}

/** The package in a node_modules of its own. `part` is a part of it that is left out. */
function unpacked(name, part) {
  const folder = path.join(where, name, 'node_modules', 'sloop');
  fs.mkdirSync(folder, { recursive: true });
  call(where, 'tar', 'xzf', path.join(where, 'sloop-0.1.0.tgz'), '--strip-components=1', '-C', folder);
  fs.rmSync(path.join(folder, part), { recursive: true, force: true });
  return folder;
}
const says = (folder) => call(path.resolve(folder, '..', '..'), process.execPath, '-p', "require('sloop').version");

test('npm packs it with its sources, and leaves the tree as it was', () => {
  call(TREE, 'npm', 'pack', '--offline', '--pack-destination', where);
  assert.ok(!fs.existsSync(path.join(TREE, 'sources')));
  const files = call(where, 'tar', 'tzf', 'sloop-0.1.0.tgz').split('\n');
  for (const name of ['index.js', 'index.mjs', 'index.d.ts', 'index.d.mts', 'lib/native.js', 'install.js', 'sources/include/sloop.h']) {
    assert.ok(files.includes(`package/${name}`), name);
  }
});

test('its types are right for every way in which it is imported (attw)', { skip: !toolPath('@arethetypeswrong/core') && 'attw is not installed' }, async () => {
  const attw = await import(path.join(toolPath('@arethetypeswrong/core'), 'dist', 'index.js'));
  const problemsOf = async (file) => {
    const { types, problems } = await attw.checkPackage(attw.createPackageFromTarballData(fs.readFileSync(path.join(where, file))));
    assert.deepStrictEqual(types, { kind: 'included' });
    return problems.map((one) => one.kind);
  };
  assert.deepStrictEqual(await problemsOf('sloop-0.1.0.tgz'), []);
  const folder = unpacked('wrong', 'sources'); // the types of CommonJS for ESM, too
  const file = path.join(folder, 'package.json');
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('./index.d.mts', './index.d.ts'));
  call(where, 'tar', 'czf', 'wrong.tgz', '-C', path.dirname(folder), '--transform=s,^sloop,package,', 'sloop');
  assert.deepStrictEqual(new Set(await problemsOf('wrong.tgz')), new Set(['FalseCJS']));
});

/** Puts a binary into an unpacked package, as a release does. Returns its file. */
function addPrebuilt(folder, bytes = fs.readFileSync(path.join(PACKAGE, 'sloop.node'))) {
  const to = path.join(folder, 'prebuilds', `linux-${process.arch}`, 'sloop.node');
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.writeFileSync(to, bytes);
  return to;
}
const NO_TOOLS = { PATH: where }; // nothing is there that builds

test('a prebuilt binary in it is taken', () => {
  const folder = unpacked('prebuilt', 'sources');
  const to = addPrebuilt(folder);
  call(folder, process.execPath, 'install.js');
  assert.ok(!fs.existsSync(path.join(folder, 'sloop.node')));
  assert.match(says(folder), /^\d+\.\d+\.\d+\n$/);
  fs.writeFileSync(to, 'no binary');
  assert.throws(() => call(folder, process.execPath, 'install.js'), /there are no sources/);
});

test('a prebuilt binary is loaded where only the package may be read', { skip: !process.allowedNodeEnvironmentFlags.has('--allow-addons') &&
  'this node has no --allow-addons' }, () => {
  const folder = unpacked('restricted', 'sources');
  addPrebuilt(folder);
  const flag = ['--permission', '--experimental-permission'].find((one) => process.allowedNodeEnvironmentFlags.has(one));
  const said = call(path.resolve(folder, '..', '..'), process.execPath, flag, '--allow-addons', `--allow-fs-read=${path.join(where, 'restricted')}/*`,
    '-p', "require('sloop').version");
  assert.match(said, /^\d+\.\d+\.\d+\n$/);
});

test('npm installs it from nothing without a network, and without scripts', () => {
  const folder = unpacked('packed', 'sources');
  addPrebuilt(folder);
  call(path.dirname(folder), 'tar', 'czf', path.join(where, 'prebuilt.tgz'), '--transform', 's,^sloop,package,', 'sloop');
  for (const flags of [[], ['--ignore-scripts']]) {
    const empty = fs.mkdtempSync(path.join(where, 'empty-'));
    fs.writeFileSync(path.join(empty, 'package.json'), '{}');
    callWith({ npm_config_cache: path.join(empty, 'cache') }, empty, 'npm', 'install', '--offline', '--no-audit', '--no-fund', ...flags,
      path.join(where, 'prebuilt.tgz'));
    assert.match(says(path.join(empty, 'node_modules', 'sloop')), /^\d+\.\d+\.\d+\n$/);
    assert.ok(!fs.existsSync(path.join(empty, 'node_modules', 'sloop', 'sloop.node')));
  }
});

test('what it says where there is no binary, and nothing that builds one', () => {
  const folder = unpacked('unsupported', 'nothing');
  fs.mkdirSync(path.join(folder, 'prebuilds', 'linux-other'), { recursive: true });
  const lacks = /not found here: meson, ninja, a C compiler\. Building it from source needs .*libcurl/;
  for (const said of [/there is no binary for linux-\w+ \(the package brings linux-other\)/, lacks]) {
    assert.throws(() => callWith(NO_TOOLS, folder, process.execPath, 'install.js'), said);
  }
  assert.throws(() => says(folder), /node \S+install\.js builds it from source/); // installed without scripts
  addPrebuilt(folder);
  callWith(NO_TOOLS, folder, process.execPath, 'install.js');
  assert.throws(() => callWith({ ...NO_TOOLS, npm_config_build_from_source: 'sloop' }, folder, process.execPath, 'install.js'),
    /--build-from-source asks for it\nsloop: not found here: meson/);
});

test('what it says where glibc is older than the binary needs', () => {
  const folder = unpacked('old', 'nothing');
  const bytes = fs.readFileSync(path.join(PACKAGE, 'sloop.node'));
  const versions = [...bytes.toString('latin1').matchAll(/GLIBC_2\.(\d\d)\0/g)].sort((a, b) => b[1] - a[1]);
  bytes.write('GLIBC_2.9', versions[0].index, 'latin1'); // the second digit stays
  addPrebuilt(folder, bytes);
  const said = /sloop\.node needs glibc 2\.9\d or newer, and this system has 2\.\d+: use a newer system, or build it from source/;
  for (const what of [said, /not found here: meson/]) {
    assert.throws(() => callWith(NO_TOOLS, folder, process.execPath, 'install.js'), what);
  }
  assert.throws(() => says(folder), said);
});

test('it builds from its sources', () => {
  const folder = unpacked('built', 'prebuilds');
  call(folder, process.execPath, 'install.js');
  assert.ok(!fs.existsSync(path.join(folder, 'native-build')));
  assert.match(says(folder), /^\d+\.\d+\.\d+\n$/);
});
