// Keeps compiled code of the bundle on disk. With the cache that Node has since 22.1, pi sends its first request 20 ms later.
"use strict";

const { isAscii } = require("node:buffer");
const { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { basename, dirname, join, sep } = require("node:path");
const { Script } = require("node:vm");
const zlib = require("node:zlib");

/** Files whose names contain a hash of their content, so that a name stands for one content. */
const HASHED = /\.[\w-]{8}\.cjs$/;

/** Files of other builds are deleted at this age, ms; the current ones are then written again. */
const MAX_AGE_MS = 30 * 24 * 3600 * 1000;

/** What Node writes around a module's code; what is in front of it is on the same line. */
const [BEFORE, AFTER] = Module.wrap("\0")
	.split("\0")
	.map((part) => Buffer.from(part));

/** Length of the checksum in front of the compiled code, bytes. */
const CHECKSUM_BYTES = 4;

/**
 * Makes Node take the compiled code of a bundle's files from a directory, and write what was missing when the process exits.
 * @param {string} bundle directory of the files; those with a hash in their names count
 * @param {string} directory exists
 */
function useCodeCache(bundle, directory) {
	// Without it, damaged files could not be told from good ones, and V8 crashes on them. Node has it since 20.15.
	if (!zlib.crc32) return;
	const cache = join(directory, `${process.version}-${process.arch}`);
	const missing = new Map();
	const load = Module._extensions[".js"];
	Module._extensions[".js"] = function (module, filename) {
		if (!filename.startsWith(bundle + sep) || !HASHED.test(filename)) return load.call(this, module, filename);
		const file = join(cache, `${basename(filename, ".cjs")}.bin`);
		// The offset: stack traces have the columns of the file.
		const options = { filename, columnOffset: -BEFORE.length, cachedData: read(file) };
		const script = new Script(readWrapped(filename), options);
		if (script.cachedDataRejected !== false) missing.set(file, script);
		const { exports } = module;
		const require = Module.createRequire(filename);
		script.runInThisContext().call(exports, exports, require, module, filename, dirname(filename));
	};
	process.once("exit", () => {
		try {
			if (missing.size > 0) require("./optimize-late.cjs").withStartFlags(() => write(cache, missing));
		} catch {
			// The disk is full, or not writable any more: only the next start takes a little longer.
		}
	});
}

/** A module's code as V8 compiles it. Node's own way copies it several times within V8's heap, which then collects garbage. */
function readWrapped(file) {
	const bytes = Buffer.concat([BEFORE, readFileSync(file), AFTER]);
	return isAscii(bytes) ? bytes.latin1Slice() : bytes.utf8Slice();
}

/** Compiled code from a file; undefined if there is none, or the file is damaged. */
function read(file) {
	try {
		const bytes = readFileSync(file);
		const code = bytes.subarray(CHECKSUM_BYTES);
		return bytes.readUInt32LE(0) === zlib.crc32(code) ? code : undefined;
	} catch {
		return undefined;
	}
}

/** Writes the code that V8 has compiled so far, which includes the functions that ran. Other processes see complete files only. */
function write(cache, scripts) {
	mkdirSync(cache, { recursive: true, mode: 0o700 });
	for (const name of readdirSync(cache)) {
		const file = join(cache, name);
		if (Date.now() - statSync(file).mtimeMs > MAX_AGE_MS) rmSync(file, { force: true });
	}
	for (const [file, script] of scripts) {
		const code = script.createCachedData();
		const checksum = Buffer.alloc(CHECKSUM_BYTES);
		checksum.writeUInt32LE(zlib.crc32(code));
		const unfinished = `${file}.${process.pid}`;
		writeFileSync(unfinished, Buffer.concat([checksum, code]), { mode: 0o600 });
		renameSync(unfinished, file);
	}
}

module.exports = { useCodeCache };
