import { errorText } from "../errors.js";
import { BUILTIN_TOOLS } from "../tools/index.js";
import type { HostExecOptions, ToolHost } from "../tools/machine/machine.js";
import type { AnyTool, ToolContext, ToolResult } from "../tools/tool.js";
import { monotonicMs } from "../util/clock.js";
import type { ProcessResult } from "../util/process.js";
import type { CommandOperations } from "./command-operations.js";
import { type FileOperations, fileHost } from "./file-operations.js";
import { currentToolCall } from "./running-code.js";
import { notAvailable } from "./with-refusals.js";

interface ShellCommand {
	command: string;
	cwd: string;
	env: Record<string, string>;
}

interface ToolOptions {
	operations?: CommandOperations | FileOperations;
	commandPrefix?: string;
	shellPath?: string;
	/** Changes a command before it runs. `env` is what is added to the environment. */
	spawnHook?(command: ShellCommand): ShellCommand;
}

/** A built-in tool as extensions create it. */
interface ExtensionTool {
	name: string;
	label: string;
	description: string;
	parameters: object;
	promptSnippet?: string;
	promptGuidelines?: readonly string[];
	execute(id: string, params: unknown, signal?: AbortSignal, onUpdate?: Update): Promise<ToolResult>;
}

type Update = (partial: ToolResult) => void;
type CreateTool = (cwd: string, options?: object) => ExtensionTool;

const CODING = ["read", "bash", "edit", "write"];
const READ_ONLY = ["read", "grep", "find", "ls"];

/** Functions that create the built-in tools, by their names. They work in calls of tools, on the machine of the session. */
export const TOOL_VALUES: Readonly<Record<string, (cwd: string, options?: object) => unknown>> = {
	...Object.fromEntries(
		[...new Set([...CODING, ...READ_ONLY])].flatMap((name) => {
			const create: CreateTool = (cwd, options = {}) => createTool(name, cwd, options);
			const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
			return [
				[`create${title}Tool`, create],
				[`create${title}ToolDefinition`, create],
			];
		}),
	),
	createCodingTools: (cwd) => CODING.map((name) => createTool(name, cwd, {})),
	createReadOnlyTools: (cwd) => READ_ONLY.map((name) => createTool(name, cwd, {})),
};

function createTool(name: string, cwd: string, options: object): ExtensionTool {
	const tool = BUILTIN_TOOLS.find((candidate) => candidate.name === name);
	if (!tool) throw notAvailable(`the tool ${name}`, "pi has no tool of this name");
	const { description, parameters, promptLine, guidelines } = tool;
	return {
		name,
		label: name,
		description,
		parameters,
		...(promptLine === undefined ? {} : { promptSnippet: promptLine }),
		...(guidelines === undefined ? {} : { promptGuidelines: guidelines }),
		execute: (toolCallId, params, signal, onUpdate) =>
			run(tool, params, { cwd, options, toolCallId, ...(signal && { signal }), ...(onUpdate && { onUpdate }) }),
	};
}

interface Call extends Partial<Pick<ToolContext, "signal" | "onUpdate">> {
	cwd: string;
	options: ToolOptions;
	toolCallId: string;
}

async function run(tool: AnyTool, params: unknown, { cwd, options, ...call }: Call): Promise<ToolResult> {
	const current = currentToolCall();
	if (!current)
		throw notAvailable(`${tool.name}.execute outside of a tool call`, "a built-in tool works on the machine of a call");
	const context: ToolContext = {
		...current,
		cwd,
		...(options.shellPath === undefined ? {} : { shellPath: options.shellPath }),
		...call,
		host: hostFor(current.host, cwd, options),
	};
	// The session, or the extension, has checked the arguments.
	return tool.run(params as never, context);
}

/** The host as a tool with these options sees it. */
function hostFor(host: ToolHost, cwd: string, { operations, commandPrefix, spawnHook }: ToolOptions): ToolHost {
	const exec: ToolHost["exec"] = async (line, options = {}) => {
		const where = { ...options, cwd: options.cwd ?? cwd };
		if (typeof line !== "string") return host.exec(line, where);
		const prefixed = commandPrefix === undefined ? line : `${commandPrefix}\n${line}`;
		const given = { command: prefixed, cwd: where.cwd, env: { ...options.env } };
		const changed = { ...where, ...(spawnHook?.(given) ?? given) };
		return operations && "exec" in operations ? operate(operations, changed) : host.exec(changed.command, changed);
	};
	const files = operations && !("exec" in operations) ? fileHost(host, operations) : {};
	const own: Partial<ToolHost> = { ...files, cwd, exec };
	// Not a copy: a host may have methods of its class and private fields.
	return new Proxy(host, {
		get(target, member) {
			if (Object.hasOwn(own, member)) return Reflect.get(own, member);
			const value: unknown = Reflect.get(target, member);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

async function operate(
	operations: CommandOperations,
	{ command, cwd, env, onOutput, signal, timeoutMs }: ShellCommand & HostExecOptions,
): Promise<ProcessResult> {
	const startedAt = monotonicMs();
	const ended = (how: Pick<ProcessResult, "exitCode" | "failure">): ProcessResult => ({
		...how,
		exitSignal: null,
		endedBy: signal?.aborted ? "abort" : "itself",
		leftRunning: false,
		durationMs: monotonicMs() - startedAt,
	});
	try {
		const { exitCode } = await operations.exec(command, cwd, {
			onData: (data) => void onOutput?.(Buffer.from(data), "stdout"),
			env,
			...(signal && { signal }),
			...(timeoutMs === undefined ? {} : { timeout: timeoutMs / 1000 }),
		});
		return ended({ exitCode });
	} catch (error) {
		return ended({ exitCode: null, failure: errorText(error) });
	}
}
