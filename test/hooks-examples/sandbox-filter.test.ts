import { expect, test } from "vitest";
import { systemCallFilter } from "../../hooks-examples/sandbox/system-calls.js";

const ALLOWED = 0x7fff0000;
const MISSING = 0x00050026;
const NO_FAMILY = 0x00050061;

/** `AUDIT_ARCH_…` and numbers of the calls that the filter of a machine must know. */
const CALLS = {
	x64: [
		{ audit: 0xc000003e, socket: 41, socketpair: 53, read: 0, missing: [425, 248, 249, 250] },
		{ audit: 0x40000003, socket: 359, socketpair: 360, read: 3, missing: [425, 286, 287, 288, 102] },
	],
	arm64: [
		{ audit: 0xc00000b7, socket: 198, socketpair: 199, read: 63, missing: [425, 217, 218, 219] },
		{ audit: 0x40000028, socket: 281, socketpair: 288, read: 3, missing: [425, 309, 310, 311, 102] },
	],
};

/** Runs a filter as the kernel does. */
function verdict(filter: Buffer, audit: number, number: number, args: readonly bigint[] = []): number {
	const data = Buffer.alloc(64);
	data.writeUInt32LE(number, 0);
	data.writeUInt32LE(audit, 4);
	for (const [at, value] of args.entries()) data.writeBigUInt64LE(value, 16 + 8 * at);
	let accumulator = 0;
	for (let at = 0; at * 8 < filter.length; at++) {
		const code = filter.readUInt16LE(at * 8);
		const operand = filter.readUInt32LE(at * 8 + 4);
		const jump = (holds: boolean) => filter.readUInt8(at * 8 + (holds ? 2 : 3));
		if (code === 0x06) return operand;
		if (code === 0x20) accumulator = data.readUInt32LE(operand);
		else if (code === 0x54) accumulator = (accumulator & operand) >>> 0;
		else if (code === 0x15) at += jump(accumulator === operand);
		else if (code === 0x35) at += jump(accumulator >= operand);
		else throw new Error(`unknown code ${code}`);
	}
	throw new Error("the filter has no end");
}

const machines = Object.entries(CALLS).flatMap(([arch, calls]) => calls.map((each) => ({ arch, ...each })));

test.each(machines)("programs for %o get no socket that reaches other programs", (machine) => {
	const filter = systemCallFilter(machine.arch) ?? expect.fail();
	const { audit, socket, socketpair, read, missing } = machine;
	const families = [...Array(64).keys()].filter((each) => verdict(filter, audit, socket, [BigInt(each)]) === ALLOWED);
	expect(families).toEqual([2, 10, 16]);
	// The kernel ignores the upper half of the argument.
	expect(verdict(filter, audit, socket, [0xffffffff00000001n])).toBe(NO_FAMILY);
	expect(verdict(filter, audit, socket, [0xffffffff00000002n])).toBe(ALLOWED);
	const types = [...Array(16).keys()].filter(
		(each) => verdict(filter, audit, socketpair, [1n, BigInt(each | 0x80800)]) === ALLOWED,
	);
	expect(types).toEqual([1, 5]);
	expect(verdict(filter, audit, socketpair, [30n, 1n])).toBe(NO_FAMILY);
	for (const number of missing) expect(verdict(filter, audit, number), String(number)).toBe(MISSING);
	expect(verdict(filter, audit, 0x40000000 + socket, [1n])).toBe(MISSING);
	expect(verdict(filter, audit, read)).toBe(ALLOWED);
});

test("programs for an architecture that the filter does not know can do nothing", () => {
	const [x64, arm64] = [systemCallFilter("x64"), systemCallFilter("arm64")];
	expect(verdict(x64 ?? expect.fail(), 0xc00000b7, 63)).toBe(MISSING);
	expect(verdict(arm64 ?? expect.fail(), 0xc000003e, 0)).toBe(MISSING);
	expect(systemCallFilter("riscv64")).toBeNull();
});
