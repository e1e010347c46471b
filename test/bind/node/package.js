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
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe' });
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

test('a prebuilt binary in it is taken', () => {
  const folder = unpacked('prebuilt', 'sources');
  const to = path.join(folder, 'prebuilds', `linux-${process.arch}`, 'sloop.node');
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.copyFileSync(path.join(PACKAGE, 'sloop.node'), to);
  call(folder, process.execPath, 'install.js');
  assert.ok(!fs.existsSync(path.join(folder, 'sloop.node')));
  assert.match(says(folder), /^\d+\.\d+\.\d+\n$/);
  fs.writeFileSync(to, 'no binary');
  assert.throws(() => call(folder, process.execPath, 'install.js'), /there are no sources/);
});

test('it builds from its sources', () => {
  const folder = unpacked('built', 'prebuilds');
  call(folder, process.execPath, 'install.js');
  assert.ok(!fs.existsSync(path.join(folder, 'native-build')));
  assert.match(says(folder), /^\d+\.\d+\.\d+\n$/);
});
