import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { SettingsStore } from "../../../src/config/settings-store.js";
import { runInteractive } from "../../../src/modes/interactive/interactive-mode.js";
import type { InteractiveOptions } from "../../../src/modes/interactive/interactive-options.js";
import { askGrant, askTrust } from "../../../src/modes/start-questions.js";
import type { AgentSession } from "../../../src/sdk/agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/create-session.js";
import { keyBytes } from "../../helpers/keys.js";
import { type LoopbackModelOptions, type LoopbackProvider, startProvider } from "../../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { VirtualTerminal } from "../../helpers/virtual-terminal.js";

/** The complete interactive mode on a terminal in memory, with a loopback provider. */
export interface App {
	terminal: VirtualTerminal;
	provider: LoopbackProvider;
	cwd: string;
	agentDir: string;
	/** The session, once it has started. */
	session(): AgentSession;
	settings: SettingsStore;
	/** Resolves with the exit code when the mode ends. */
	exit: Promise<number>;
	/** Types a text and presses enter. */
	submit(text: string): Promise<void>;
}

/** Options of an app. */
export interface AppOptions {
	columns?: number;
	rows?: number;
	/** Theme of this run; null: unset. Default: `dark`. */
	theme?: string | null;
	/** Content of the agent directory's settings.json. */
	agentSettings?: unknown;
	hooks?: Record<string, string>;
	/** Files of the project, by relative path. */
	files?: Record<string, unknown>;
	session?: CreateAgentSessionOptions["session"];
	agentDir?: string;
	cwd?: string;
	mode?: Partial<InteractiveOptions>;
	/** As on a new machine: no provider, key or model. */
	withoutModel?: boolean;
	/** Default: the scripted model of the loopback provider, over chat completions. */
	model?: string;
	/** As `--on`. */
	on?: string;
	/** Default: none are searched. */
	localServers?: CreateAgentSessionOptions["localServers"];
	modelOptions?: LoopbackModelOptions;
	/** Awaited before the session is created. */
	hold?: Promise<void>;
}

/** Starts the mode, and quits it when the test ends. */
export async function startApp(options: AppOptions = {}): Promise<App> {
	const provider = await startProvider();
	const agentDir = options.agentDir ?? tempAgentDir({ hooks: options.hooks ?? {} });
	if (!options.withoutModel) writeFiles(agentDir, { "models.json": provider.modelsJson(options.modelOptions) });
	if (options.agentSettings !== undefined) writeFiles(agentDir, { "settings.json": options.agentSettings });
	const home = tempDir("pi-home-");
	const cwd = options.cwd ?? join(home, "src", "shop");
	mkdirSync(cwd, { recursive: true });
	writeFiles(cwd, options.files ?? {});
	const settings = new SettingsStore({ agentDir, cwd });
	if (options.theme !== null) settings.override("theme", options.theme ?? "dark");
	const terminal = new VirtualTerminal(options.columns ?? 80, options.rows ?? 24);
	let session: AgentSession | null = null;
	const exit = runInteractive({
		settings,
		theme: { level: 3 },
		cwd,
		home,
		version: "0.1",
		terminal,
		startSession: async (questions) => {
			await options.hold;
			session = await createAgentSession({
				...(options.withoutModel ? {} : { model: options.model ?? "loopback/scripted" }),
				session: options.session ?? { kind: "new" },
				localServers: options.localServers ?? { ports: {} },
				cwd,
				home,
				env: { PI_CODING_AGENT_DIR: agentDir, PATH: process.env.PATH },
				...(options.on === undefined ? {} : { on: options.on }),
				settings,
				askTrust: (set) => askTrust(set, questions),
				askGrant: (request) => askGrant(request, questions, { cwd, home }),
			});
			return session;
		},
		...options.mode,
	});
	exit.catch(() => {}); // the tests that await it see the error
	onTestFinished(async () => {
		await terminal.press("escape");
		for (let press = 0; press < 2 && terminal.running; press += 1) {
			terminal.send(keyBytes("ctrl+c"));
			await terminal.settle(5);
		}
		await session?.dispose();
	});
	return {
		terminal,
		provider,
		settings,
		cwd,
		agentDir,
		exit,
		session: () => {
			if (!session) throw new Error("The session is not there yet");
			return session;
		},
		submit: async (text) => {
			await terminal.type(text);
			await terminal.press("enter");
		},
	};
}
