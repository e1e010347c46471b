'use strict';
// Prints the folder of node_api.h: that of the package node-api-headers, of this node, or of the system.
const fs = require('fs');
const path = require('path');

function folders() {
  const found = [];
  for (const from of [__dirname, process.cwd(), ...process.argv.slice(2)]) {
    try {
      found.push(require(require.resolve('node-api-headers', { paths: [from] })).include_dir);
    } catch {
      // it is not installed there
    }
  }
  return [...found, path.resolve(process.execPath, '..', '..', 'include', 'node'), '/usr/include/node',
    '/usr/include/nodejs/src'];
}

const there = folders().find((folder) => fs.existsSync(path.join(folder, 'node_api.h')));
if (there === undefined) {
  console.error('node_api.h is not found: npm install node-api-headers, or apt install libnode-dev');
  process.exit(1);
}
console.log(there);
