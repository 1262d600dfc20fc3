// Imports modules for the files of the bundle: code that V8 takes from a cache cannot do it on Node 20.
"use strict";

const { isBuiltin } = require("node:module");

/**
 * `import()`. Node's own modules are loaded with require(): the first import takes Node 3 ms, and reads all members, some of
 * which load further modules.
 * @param {string} specifier never relative
 */
exports.load = async (specifier) => {
	if (!isBuiltin(specifier)) return import(specifier);
	const builtin = require(specifier);
	return Object.create(builtin, { default: { value: builtin } });
};
