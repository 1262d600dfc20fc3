import type { ToolCallDeps, ToolCallGate } from "../../agent/tool-calls.js";
import type { ToolResultEvent } from "../../hooks/types.js";
import { freezeDeep } from "../../log/freeze.js";
import type { ToolJobs } from "../../tools/background-jobs.js";
import type { UndoableFiles } from "../files/undoable-files.js";
import type { HookUpdates } from "../hooks/hook-updates.js";
import type { RequiredHooks } from "../hooks/required-hooks.js";
import type { SessionCore } from "../session-core.js";
import type { NestedContextFiles } from "./nested-context-files.js";
import type { SessionImages } from "./session-images.js";

/** What calls of tools need of a session, by whomever they are made. */
export interface CallSources extends SessionCore {
	images: SessionImages;
	updates: Pick<HookUpdates, "settled">;
	required: Pick<RequiredHooks, "refusal">;
	jobs: ToolJobs;
	files: Pick<UndoableFiles, "record">;
}

/** With what every call of a tool runs, whether the model or a hook makes it. */
export function callEnvironment(
	sources: CallSources,
	nestedFiles: Pick<NestedContextFiles, "note">,
): Pick<ToolCallDeps, "gate" | "validator" | "cwd" | "host" | "tmpDir" | "recordFiles"> & { jobs: ToolJobs } {
	const { store, models, machine, jobs, files } = sources;
	return {
		gate: createGate(sources, nestedFiles),
		validator: models.client.validator,
		cwd: store.cwd,
		host: machine.host,
		tmpDir: store.tmpDir,
		jobs,
		recordFiles: (host) => files.record(host),
	};
}

/**
 * Creates the gate through which hooks block tool calls and change results, images of results are fitted, and the
 * directories that calls reach are noted.
 */
function createGate(
	{ hooks, images, updates, required }: CallSources,
	nestedFiles: Pick<NestedContextFiles, "note">,
): ToolCallGate {
	return {
		async before({ toolName, toolCallId, input, caller }, validate, signal) {
			// A call of a hook has no updates, and may be made by the handler of one.
			if (!caller) await updates.settled();
			const refusal = await required.refusal(signal);
			if (refusal !== null) return { blocked: refusal };
			if (!hooks().registry.has("tool_call")) return { input };
			const by = caller ? { caller } : {};
			return hooks().gateToolCall({ type: "tool_call", toolName, toolCallId, input, ...by }, validate, signal);
		},
		async after({ toolName, toolCallId, input, caller }, result, signal) {
			nestedFiles.note({ toolName, input });
			if (!caller) await updates.settled();
			if (!hooks().registry.has("tool_result")) return images.fitResult(result);
			const event: ToolResultEvent = {
				type: "tool_result",
				toolName,
				toolCallId,
				input: freezeDeep(structuredClone(input)),
				content: result.content,
				details: result.details,
				isError: result.isError === true,
				...(caller ? { caller } : {}),
			};
			return images.fitResult(await hooks().changeToolResult(event, signal));
		},
	};
}
