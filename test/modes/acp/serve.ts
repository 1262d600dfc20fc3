import { PassThrough } from "node:stream";
import type { ClientCapabilities, NewSessionResponse } from "@agentclientprotocol/sdk";
import { onTestFinished } from "vitest";
import { paths } from "../../../src/config/paths.js";
import { SettingsStore } from "../../../src/config/settings-store.js";
import { AcpServer } from "../../../src/modes/acp/acp-server.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/create-session.js";
import { AcpTestClient } from "../../helpers/acp-client.js";
import { type LoopbackModelOptions, type LoopbackProvider, startProvider } from "../../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles, writeHook } from "../../helpers/temp.js";

export interface ServeOptions extends Partial<Omit<CreateAgentSessionOptions, "hooks" | "settings" | "provider">> {
	provider?: LoopbackProvider;
	agentDir?: string;
	hooks?: Record<string, string>;
	/** Files of the project. */
	files?: Record<string, unknown>;
	modelOptions?: LoopbackModelOptions;
	userSettings?: unknown;
	capabilities?: ClientCapabilities;
	/** False: sessions are not saved. */
	isSaved?: boolean;
}

/** A server with a loopback provider, and an editor that is connected to it and has opened a session. */
export async function serve(options: ServeOptions = {}) {
	const { hooks = {}, files = {}, modelOptions, userSettings, capabilities, isSaved = true, ...rest } = options;
	const { agentDir: dir, provider: given, cwd = tempDir("pi-project-"), ...sessionOptions } = rest;
	const provider = given ?? (await startProvider());
	const agentDir = dir ?? tempAgentDir();
	writeFiles(agentDir, { "models.json": provider.modelsJson(modelOptions) });
	if (userSettings !== undefined) writeFiles(agentDir, { "settings.json": userSettings });
	for (const [name, source] of Object.entries(hooks)) writeHook(`${agentDir}/hooks`, name, source);
	writeFiles(cwd, files);
	const home = tempDir("pi-home-");
	const env = { PI_CODING_AGENT_DIR: agentDir, PATH: process.env.PATH };
	const toServer = new PassThrough();
	const toClient = new PassThrough();
	let output = "";
	const server = new AcpServer({
		factory: {
			directories: isSaved ? { root: paths(env, cwd, home).sessions, dir: null } : null,
			async create({ cwd: place, session }) {
				const created = await createAgentSession({
					model: "loopback/scripted",
					localServers: { ports: {} },
					bundledHooks: false,
					...sessionOptions,
					env,
					home,
					cwd: place,
					settings: new SettingsStore({ agentDir, cwd: place }),
					session: isSaved ? session : { kind: "memory" },
				});
				return { session: created, warnings: [], release() {} };
			},
		},
		async checkLogin() {},
		input: toServer,
		io: {
			async out(text) {
				output += text;
				if (!toClient.writableEnded) toClient.write(text);
			},
		},
	});
	const served = server.serve().finally(() => toClient.end());
	const editor = new AcpTestClient(toClient, toServer);
	onTestFinished(async () => {
		editor.connection.close();
		toServer.end();
		await served;
	});
	await editor.initialize(capabilities);
	const opened: NewSessionResponse = await editor.newSession(cwd);
	return {
		editor,
		provider,
		agentDir,
		cwd,
		opened,
		id: opened.sessionId,
		served,
		/** Everything the server wrote. */
		output: () => output,
		/** Writes text to the server verbatim. */
		write: (text: string) => void toServer.write(text),
		end: () => void toServer.end(),
	};
}
