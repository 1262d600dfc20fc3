const dgram = require("node:dgram");
const dns = require("node:dns");
const { appendFileSync } = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const net = require("node:net");

// A preload: appends a line to the file of PI_TEST_SOCKETS for every connection, every listening socket, every datagram and
// every name lookup of the process and its threads, before it happens.
const file = process.env.PI_TEST_SOCKETS ?? "";

/** @param {string} line */
const record = (line) => appendFileSync(file, `${line}\n`);

/**
 * @param {Record<string, any>} target
 * @param {string} name
 * @param {(args: any[]) => string} describe
 */
function watch(target, name, describe) {
	const original = target[name];
	target[name] = function (/** @type {any[]} */ ...args) {
		record(describe(args));
		return original.apply(this, args);
	};
}

watch(net.Socket.prototype, "connect", (args) => {
	// net.connect passes the normalized arguments as one array.
	const [{ path, host = "localhost", port }] = Array.isArray(args[0]) ? args[0] : net._normalizeArgs(args);
	return `connect ${path ?? `${host}:${port}`}`;
});
watch(net.Server.prototype, "listen", () => "listen");
for (const name of ["bind", "connect", "send"]) watch(dgram.Socket.prototype, name, () => `datagram ${name}`);
for (const target of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
	const queries = Object.getOwnPropertyNames(target).filter((name) => /^(lookup|resolve|reverse)/.test(name));
	for (const name of queries) watch(target, name, ([host]) => `lookup ${host}`);
}
syncBuiltinESMExports();
