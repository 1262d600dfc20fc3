// Makes V8 optimize later once the program has started.
"use strict";

const Module = require("node:module");

/**
 * How long a function runs before V8 optimizes it: V8's default during the start, when optimizing early is better, and later.
 * With the default, V8's threads take up to a third of the program's CPU time to optimize code that then hardly runs any faster.
 * By major version of Node: newer ones optimize with a compiler that costs little.
 */
const FLAGS = {
	20: { start: "--interrupt-budget=67584", later: "--interrupt-budget=1500000" },
	22: { start: "--invocation-count-for-turbofan=3000", later: "--invocation-count-for-turbofan=10000" },
}[Number.parseInt(process.versions.node, 10)];

/** V8's function, once V8 optimizes late. */
let setFlags = null;

/** Runs code that compiles, or writes what was compiled: V8 takes compiled code only with the options that it was compiled with. */
function withStartFlags(run) {
	if (setFlags === null) return run();
	setFlags(FLAGS.start);
	try {
		return run();
	} finally {
		setFlags(FLAGS.later);
	}
}

/** Makes V8 optimize only functions that run for long. Call it once the program has started. */
function optimizeLate() {
	if (!FLAGS) return;
	setFlags = require("node:v8").setFlagsFromString;
	setFlags(FLAGS.later);
	const load = Module._extensions[".js"];
	Module._extensions[".js"] = function (...file) {
		return withStartFlags(() => load.apply(this, file));
	};
}

module.exports = { optimizeLate, withStartFlags };
