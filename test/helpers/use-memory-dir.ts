import { expect, inject } from "vitest";

/** Tests that need the system's own directory. */
const ON_DISK = [
	// The sandbox refuses directories of the system, such as /dev.
	/\/(?:sandbox|remote|containers|other-machine)\.test\.ts$/,
	// Numbers of tokens and line breaks in these depend on the length of paths.
	/\/(?:context-panel(?:-\w+)?|hooks-panel|interactive-mode|themes)\.test\.ts$/,
	/\/(?:extensions|docs)\/context\.test\.ts$/,
];

// Runs before each test file: a worker runs several.
const dir = inject("memoryDir");
const file = expect.getState().testPath ?? "";
if (dir !== undefined) {
	if (ON_DISK.some((pattern) => pattern.test(file))) delete process.env.TMPDIR;
	else process.env.TMPDIR = dir;
}
