import { once } from "node:events";
import type { ModeIO } from "../modes/mode.js";

/** The process's own streams. A reader that is gone ends the program quietly, as it does for other commands. */
export function standardIO(): ModeIO {
	const { stdout, stderr } = process;
	let isGone = false;
	stdout.on("error", (error: NodeJS.ErrnoException) => {
		isGone = true;
		if (error.code === "EPIPE") process.kill(process.pid, "SIGTERM");
	});
	stderr.on("error", () => {
		// Nobody is left to tell.
	});
	return {
		async out(text) {
			if (isGone || stdout.write(text) || stdout.destroyed) return;
			await Promise.race([once(stdout, "drain"), once(stdout, "close")]).catch(() => {});
		},
		err: (text) => void stderr.write(text),
		outIsTerminal: stdout.isTTY === true,
	};
}
