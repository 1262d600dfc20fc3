import type { ModeIO } from "../modes/mode.js";

/** What a program exits with when the reader of its output is gone: 128 + SIGPIPE. */
export const READER_GONE = 141;

/**
 * The process's own streams. Answers alone go to stdout: whatever else writes there, such as a hook, writes to stderr
 * from now on. A reader that is gone ends the program quietly, as it does for other commands.
 * @param onReaderGone ends the program in good order; default: at once
 */
export function standardIO(): ModeIO {
	const { stdout, stderr } = process;
	let onReaderGone: () => void = () => process.exit(READER_GONE);
	const write = stdout.write.bind(stdout);
	stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
	let isGone = false;
	/** Settles when the reader has room again; shared by all that wait. */
	let room: Promise<void> | null = null;
	stdout.on("error", (error: NodeJS.ErrnoException) => {
		isGone = true;
		if (error.code === "EPIPE") onReaderGone();
	});
	stderr.on("error", () => {
		// Nobody is left to tell.
	});
	return {
		async out(text) {
			if (isGone || write(text) || stdout.destroyed) return;
			room ??= new Promise<void>((resolve) => {
				const settle = () => {
					stdout.off("drain", settle).off("close", settle);
					room = null;
					resolve();
				};
				stdout.on("drain", settle).on("close", settle);
			});
			await room;
		},
		err: (text) => void stderr.write(text),
		onReaderGone(end) {
			onReaderGone = end;
		},
		outIsTerminal: stdout.isTTY === true,
	};
}
