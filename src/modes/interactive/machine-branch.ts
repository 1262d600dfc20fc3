import type { ToolHost } from "../../tools/machine/machine.js";

/** Time after which the branch of a slow machine is not shown, ms. */
const HOST_TIMEOUT_MS = 10_000;

/** As `readGitBranch`, for the working directory of a host: with the git that is installed there. Never rejects. */
export async function readMachineBranch(host: ToolHost, signal: AbortSignal): Promise<string | null> {
	const script = "git symbolic-ref --quiet --short HEAD 2>/dev/null || git rev-parse --short=7 HEAD 2>/dev/null";
	const chunks: Buffer[] = [];
	const { exitCode } = await host.exec(["sh", "-c", script], {
		signal,
		timeoutMs: HOST_TIMEOUT_MS,
		onOutput(chunk, stream) {
			if (stream === "stdout") chunks.push(chunk);
			return undefined;
		},
	});
	const branch = Buffer.concat(chunks).toString().trim();
	return exitCode === 0 && branch !== "" ? branch : null;
}
