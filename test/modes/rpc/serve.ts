import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { RpcClient } from "../../../src/modes/rpc/client.js";
import type { RpcEvent, RpcResponse } from "../../../src/modes/rpc/protocol.js";
import { RpcServer } from "../../../src/modes/rpc/rpc-server.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/create-session.js";
import { checkRpcEvents } from "../../helpers/event-schema.js";
import { type LoopbackModelOptions, startProvider } from "../../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeHook } from "../../helpers/temp.js";

export interface ServeOptions extends Partial<Omit<CreateAgentSessionOptions, "hooks">> {
	hooks?: Record<string, string>;
	modelOptions?: LoopbackModelOptions;
	userSettings?: unknown;
}

/** A server for a session with a loopback provider, and a client connected through streams. */
export async function serve({ hooks = {}, modelOptions, userSettings, ...options }: ServeOptions = {}) {
	const provider = await startProvider();
	const agentDir = tempAgentDir({ models: provider.modelsJson(modelOptions), settings: userSettings, hooks });
	for (const [name, source] of Object.entries(hooks)) writeHook(`${agentDir}/hooks`, name, source);
	const cwd = options.cwd ?? tempDir("pi-project-");
	const session = await createAgentSession({
		model: "loopback/scripted",
		session: { kind: "memory" },
		localServers: { ports: {} },
		...options,
		cwd,
		home: tempDir("pi-home-"),
		env: { PI_CODING_AGENT_DIR: agentDir, PATH: process.env.PATH },
	});
	const toServer = new PassThrough();
	const toClient = new PassThrough();
	const lines: (RpcEvent | RpcResponse)[] = [];
	const server = new RpcServer({
		session,
		input: toServer,
		io: {
			out: async (text) => {
				lines.push(JSON.parse(text));
				if (!toClient.writableEnded) toClient.write(text);
			},
		},
	});
	const served = server.serve().finally(() => toClient.end());
	// Tests that check the result await it.
	served.catch(() => {});
	const client = new RpcClient({ input: toClient, output: toServer });
	onTestFinished(async () => {
		toServer.end();
		await served.catch(() => {});
		checkRpcEvents(lines);
	});
	return {
		client,
		provider,
		session,
		agentDir,
		cwd,
		served,
		/** Everything the server wrote, in order. */
		lines,
		/** Writes text to the server verbatim. */
		write: (text: string) => void toServer.write(text),
		end: () => void toServer.end(),
		events: <T extends RpcEvent["type"]>(type: T) =>
			lines.filter((line): line is Extract<RpcEvent, { type: T }> => line.type === type),
		responses: () => lines.filter((line) => line.type === "response"),
	};
}
