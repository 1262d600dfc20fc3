import { PiError } from "../errors.js";
import { isMessageEntry } from "../log/entry.js";
import type { SessionComponents } from "../session/session-components.js";
import { FLAG, TEXT } from "./input.js";
import { operation } from "./operation.js";

/** Answer to the RPC command `bash`. */
export interface RpcBashResult {
	output: string;
	/** null when the command was aborted. */
	exitCode: number | null;
	cancelled: boolean;
	truncated: boolean;
	fullOutputPath?: string;
	entryIndex: number;
}

/** Runs a shell command of the user and writes it as an entry, of which it returns the index; `excludeFromContext` hides it from the model. @throws PiError `session_busy` */
export const runBash = operation({
	request: "shell",
	run: (session: SessionComponents, command: string, { excludeFromContext = false } = {}): Promise<number> =>
		session.userShell.run(command, excludeFromContext),
	rpc: {
		command: "bash",
		concurrency: "parallel",
		input: { type: "object", required: ["command"], properties: { command: TEXT, excludeFromContext: FLAG } },
		async answer(run, { command, excludeFromContext = false }, { session }): Promise<RpcBashResult> {
			const entryIndex = await run(command, { excludeFromContext });
			const entry = session.state.log.entries[entryIndex];
			if (!isMessageEntry(entry) || entry.message.role !== "bashExecution") {
				throw new PiError("command_failed", "The shell command did not write an entry");
			}
			const { output, exitCode, cancelled, truncated, fullOutputPath } = entry.message;
			return { output, exitCode, cancelled, truncated, ...(fullOutputPath ? { fullOutputPath } : {}), entryIndex };
		},
	},
});
