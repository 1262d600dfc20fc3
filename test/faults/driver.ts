import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { RpcClient } from "../../src/modes/rpc/client.js";
import type { RpcEvent } from "../../src/modes/rpc/protocol.js";
import { isObject, parseJson } from "../helpers/json.js";
import { type PiOptions, piPlace, piProgram } from "../helpers/pi-environment.js";

/** A fault that `interpose.cjs` makes happen inside the program. See there. */
export interface FaultPlan {
	under: string;
	log?: string;
	killAt?: number;
	phase?: "before" | "half" | "after";
	failing?: [first: number, count: number];
	code?: string;
	isShort?: boolean;
	synced?: string;
	clock?: number[];
	killAfterSpawn?: string;
}

const INTERPOSE = fileURLToPath(new URL("interpose.cjs", import.meta.url));

/** The environment that makes a fault happen in the program. */
export function faultEnv(plan: FaultPlan): Record<string, string> {
	return { NODE_OPTIONS: `--require ${INTERPOSE}`, PI_TEST_FAULT: JSON.stringify(plan) };
}

/** The program in RPC mode. */
export interface Driver {
	readonly pid: number;
	readonly cwd: string;
	readonly client: RpcClient;
	/** Every event that left the program, in order. */
	readonly events: RpcEvent[];
	/** Complete lines of stdout that are not part of the protocol. */
	strayLines(): string[];
	stderr(): string;
	kill(signal: NodeJS.Signals): void;
	/** Sends a prompt and resolves when its run has ended. Rejects if the prompt is refused or the program ends. */
	ask(message: string): Promise<void>;
	/** Ends stdin. */
	end(): void;
	readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
	hasExited(): boolean;
}

/** Starts the program in RPC mode and kills it at the end of the test. */
export function drive(args: readonly string[], options: Omit<PiOptions, "args">): Driver {
	const place = piPlace(options);
	const child = spawn(process.execPath, [options.entry ?? piProgram(), "--mode", "rpc", ...args], place);
	let errors = "";
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		errors += text;
	});
	const input = new PassThrough();
	const strays: string[] = [];
	let rest = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		input.write(text);
		const lines = (rest + text).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) if (!line.startsWith('{"') || !isObject(parseJson(line))) strays.push(line);
	});
	child.stdout.once("close", () => input.end());
	const client = new RpcClient({ input, output: child.stdin });
	const events: RpcEvent[] = [];
	client.subscribe((event) => void events.push(event));
	const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
		child.once("close", async (code, signal) => {
			await client.closed;
			resolve({ code, signal });
		});
	});
	onTestFinished(async () => {
		child.kill("SIGKILL");
		await exited;
	});
	return {
		pid: child.pid ?? -1,
		cwd: place.cwd,
		client,
		events,
		strayLines: () => strays,
		stderr: () => errors,
		kill: (signal) => void child.kill(signal),
		async ask(message) {
			const ended = client.nextEvent(({ type }) => type === "agent_end");
			ended.catch(() => {}); // the call reports the same end of the program
			const { outcome } = await client.call("prompt", { message });
			if (outcome === "started") await ended;
		},
		end: () => void child.stdin.end(),
		exited,
		hasExited: () => child.exitCode !== null || child.signalCode !== null,
	};
}
