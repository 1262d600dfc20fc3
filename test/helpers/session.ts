import { onTestFinished } from "vitest";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import type { AgentSession } from "../../src/sdk/agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../src/sdk/create-session.js";
import type { AgentSessionEvent } from "../../src/session/events.js";
import {
	type LoopbackApi,
	type LoopbackModelOptions,
	type LoopbackProvider,
	startProvider,
} from "./loopback-provider.js";
import { isOfProject, shareCompiled, tempAgentDir, tempDir, writeFiles, writeHook } from "./temp.js";

/** Settings of a test session. */
export interface TestSessionOptions extends Omit<CreateAgentSessionOptions, "hooks" | "provider" | "settings"> {
	provider?: LoopbackProvider;
	modelOptions?: LoopbackModelOptions & { apis?: readonly LoopbackApi[] };
	/** Content of settings.json. */
	userSettings?: unknown;
	/** Global hooks by file name. */
	hooks?: Record<string, string>;
	/** Paths of existing hook files. */
	hookFiles?: readonly string[];
	/** Files of the project, by relative path. */
	files?: Record<string, unknown>;
	agentDir?: string;
	/** The user interface for hooks, which answers dialogs. */
	ui?: Partial<SessionUI>;
}

/** A session with a loopback provider, and all its events. */
export interface TestSession {
	session: AgentSession;
	provider: LoopbackProvider;
	agentDir: string;
	cwd: string;
	/** Every event so far. */
	events: AgentSessionEvent[];
	/** Texts of notices and hook errors so far, without the one that an image takes long, which a busy machine shows. */
	notices(): string[];
	/** The messages of request `number` (1-based) as `role: text`, without the system prompt. */
	sent(number: number): string[];
}

/** Creates and starts a session, and disposes it at the end of the test. */
export async function startSession(options: TestSessionOptions = {}): Promise<TestSession> {
	const { provider: given, modelOptions, userSettings, hooks, hookFiles, files, agentDir: dir, ui, ...rest } = options;
	const provider = given ?? (await startProvider());
	const agentDir = dir ?? tempAgentDir();
	if (!dir && !hooks && hookFiles?.every(isOfProject)) shareCompiled(agentDir);
	writeFiles(agentDir, { "models.json": provider.modelsJson(modelOptions) });
	if (userSettings !== undefined) writeFiles(agentDir, { "settings.json": userSettings });
	for (const [name, source] of Object.entries(hooks ?? {})) writeHook(`${agentDir}/hooks`, name, source);
	const cwd = rest.cwd ?? tempDir("pi-project-");
	writeFiles(cwd, files ?? {});
	const session = await createAgentSession({
		model: "loopback/scripted",
		session: { kind: "memory" },
		localServers: { ports: {} },
		// Tests of bundled hooks turn them on; all others have only the hooks that they name.
		bundledHooks: false,
		...rest,
		cwd,
		home: tempDir("pi-home-"),
		env: { PI_CODING_AGENT_DIR: agentDir, PATH: process.env.PATH, ...rest.env },
		hooks: hookFiles ?? [],
	});
	const events: AgentSessionEvent[] = [];
	session.subscribe((event) => events.push(event));
	if (ui) session.attachUI(scriptedUI(ui), null, true);
	onTestFinished(() => session.dispose());
	await session.start();
	return {
		session,
		provider,
		agentDir,
		cwd,
		events,
		notices: () =>
			events.flatMap((event) => {
				if (event.type === "notice") return event.message.startsWith("scaling the image") ? [] : [event.message];
				return event.type === "hook_error" ? [`${event.event}: ${event.error}`] : [];
			}),
		sent: (number) =>
			(provider.requests[number - 1]?.messages ?? [])
				.filter(({ role }) => role !== "system")
				.map((message) => shortly(message)),
	};
}

function scriptedUI(ui: Partial<SessionUI>): SessionUI {
	return {
		select: async () => null,
		confirm: async () => false,
		input: async () => null,
		notify: () => {},
		...ui,
	};
}

function shortly(message: LoopbackProvider["requests"][number]["messages"][number]): string {
	const calls = (message.toolCalls ?? []).map(({ name, id }) => `${name}#${id}`).join(" ");
	return [`${message.role}:`, message.text, calls].filter(Boolean).join(" ");
}
