#!/usr/bin/env node
// @ts-nocheck: the files that it names are those of the package.
// The command of the package. Old Node.js can read it, but not load the program, of which it would print a raw error.
'use strict';
const needed = require('./package.json').engines.node.replace('>=', '');
const own = process.versions.node;
const [major, minor] = own.split('.').map(Number);
const [neededMajor, neededMinor] = needed.split('.').map(Number);
if (major > neededMajor || (major === neededMajor && minor >= neededMinor))
  import('./src/main.js').then((program) => program.main());
else {
  process.stderr.write(`valetkey: Valetkey needs Node.js ${needed} or later; this is ${own}.\n`);
  process.exitCode = 1;
}
