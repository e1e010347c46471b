'use strict';
// The same binary of the package under the other majors of node, which test/install.sh ci installs.
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const path = require('node:path');
const { test } = require('./harness.js');
const { toolPath } = require('./world.js');

const OWN = process.versions.node.split('.')[0];

for (const major of ['18', '20', '22', '24']) {
  if (major === OWN) continue;
  for (const file of ['reading', 'life', 'changes', 'examples', 'misuse', 'neighbours']) {
    test(`${file}.js under node ${major}`, { skip: !toolPath(`node${major}`) && `node ${major} is not installed` }, async () => {
      const binary = path.join(toolPath(`node${major}`), 'bin', 'node');
      const child = spawn(binary, ['--expose-gc', path.join(__dirname, `${file}.js`)], { stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      child.stdout.on('data', (piece) => { said += piece; });
      child.stderr.on('data', (piece) => { said += piece; });
      assert.strictEqual(await new Promise((resolve) => child.once('close', resolve)), 0, said);
    });
  }
}
