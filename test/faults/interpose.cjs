// Loaded into the program before its own code (NODE_OPTIONS=--require): makes the system calls of the plan in PI_TEST_FAULT
// fail, or ends the process at one of them as kill -9 would. The program is unchanged.
const { isMainThread } = require("node:worker_threads");

/**
 * @typedef {object} FaultPlan
 * @property {string} under directory whose files are watched; calls are counted from 0
 * @property {string} [log] file that receives the name and path of each call, one per line
 * @property {number} [killAt] the call at which the process ends
 * @property {"before" | "half" | "after"} [phase] "half" writes one half of the bytes
 * @property {[number, number]} [failing] the calls that fail: the first, and their number
 * @property {string} [code] their error, such as ENOSPC
 * @property {boolean} [isShort] true: failing writes still write one half
 * @property {string} [synced] file that receives what is on the disk, one line of JSON each: a file with the size that a sync
 *   saved, or a directory
 * @property {number[]} [clock] what the clock of the system is off, in ms: the next of these after every few looks at it
 * @property {string} [killAfterSpawn] ends the process as soon as it has started a program with this argument
 */

if (isMainThread && process.env.PI_TEST_FAULT) interpose(JSON.parse(process.env.PI_TEST_FAULT));

/** @param {FaultPlan} plan */
function interpose(plan) {
	const fs = require("node:fs");
	const children = require("node:child_process");
	const real = { ...fs };
	/** Paths of the open watched files. */
	const open = new Map();
	let calls = 0;

	const die = () => {
		process.kill(process.pid, "SIGKILL");
		for (;;); // the signal arrives at once
	};
	const isWatched = (path) => typeof path === "string" && path.startsWith(plan.under);
	const noteSync = (path, size) => {
		if (plan.synced && path) real.appendFileSync(plan.synced, `${JSON.stringify({ path, size })}\n`);
	};
	const failure = (name, path) => {
		const error = new Error(`${plan.code}: fault of the test, ${name} '${path}'`);
		return Object.assign(error, { code: plan.code, errno: -5, syscall: name, path });
	};
	/** Runs one call. `half` does a part of it. */
	const run = (name, path, whole, half = () => {}) => {
		const index = calls++;
		if (plan.log) real.appendFileSync(plan.log, `${name} ${path}\n`);
		if (index === plan.killAt) {
			if (plan.phase === "half") half();
			if (plan.phase === "after") whole();
			die();
		}
		const [first, count] = plan.failing ?? [0, 0];
		if (index < first || index >= first + count) return whole();
		const written = plan.isShort ? half() : undefined;
		if (written) return written;
		throw failure(name, path);
	};

	fs.openSync = (path, flags = "r", mode) => {
		const creates = typeof flags === "number" ? (flags & real.constants.O_CREAT) !== 0 : /[wa]/.test(flags);
		const whole = () => real.openSync(path, flags, mode);
		const descriptor = isWatched(path) && creates ? run("open", path, whole) : whole();
		if (isWatched(path)) open.set(descriptor, path);
		return descriptor;
	};
	fs.closeSync = (descriptor) => {
		open.delete(descriptor);
		real.closeSync(descriptor);
	};
	fs.writeSync = (descriptor, data, ...rest) => {
		const whole = () => real.writeSync(descriptor, data, ...rest);
		if (!open.has(descriptor)) return whole();
		const offset = typeof data === "string" ? 0 : (rest[0] ?? 0);
		const bytes = Buffer.from(data).subarray(
			offset,
			offset + (typeof data === "string" ? Infinity : (rest[1] ?? Infinity)),
		);
		const half = () => real.writeSync(descriptor, bytes, 0, bytes.length >> 1);
		return run("write", open.get(descriptor), whole, half);
	};
	for (const name of ["writeFile", "rename", "unlink", "mkdir"]) {
		const method = `${name}Sync`;
		fs[method] = (path, ...rest) => {
			const whole = () => {
				const result = real[method](path, ...rest);
				if (name !== "rename") return result;
				for (const [descriptor, name] of open) if (name === path) open.set(descriptor, rest[0]);
				return result;
			};
			if (!isWatched(path)) return whole();
			const half = () => {
				if (name === "writeFile") real.writeFileSync(path, rest[0].subarray(0, rest[0].length >> 1), rest[1]);
			};
			return run(name, path, whole, half);
		};
	}
	fs.fdatasync = (descriptor, done) => {
		try {
			if (open.has(descriptor)) run("fdatasync", open.get(descriptor), () => {});
			const { size } = real.fstatSync(descriptor);
			real.fdatasync(descriptor, (error) => {
				if (!error) noteSync(open.get(descriptor), size);
				done(error);
			});
		} catch (error) {
			setImmediate(done, error);
		}
	};
	const openFile = fs.promises.open;
	fs.promises.open = async (path, ...rest) => {
		const file = await openFile(path, ...rest);
		const sync = file.sync.bind(file);
		file.sync = () => sync().then(() => noteSync(path));
		return file;
	};
	const { now } = Date;
	let looks = 0;
	const offset = () => plan.clock[(looks++ >> 2) % plan.clock.length];
	const clock = {
		construct: (target, args) => new target(...(args.length > 0 ? args : [now() + offset()])),
		get: (target, name) => (name === "now" ? () => now() + offset() : Reflect.get(target, name)),
	};
	if (plan.clock) globalThis.Date = new Proxy(Date, clock);
	const { spawn } = children;
	children.spawn = (command, args, options) => {
		const child = spawn(command, args, options);
		if (plan.killAfterSpawn && Array.isArray(args) && args.some((arg) => arg.includes(plan.killAfterSpawn))) die();
		return child;
	};
	require("node:module").syncBuiltinESMExports();
}
