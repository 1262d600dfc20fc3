import type { CommandShell } from "../commands/command.js";
import type { CommandSources } from "../commands/command-registry.js";
import type { Inspector } from "../commands/inspection.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { SessionMode } from "../hooks/types.js";
import type { SessionServices } from "../services/service-types.js";
import type { SessionActivity } from "./activity.js";
import type { Compaction } from "./compaction/compaction.js";
import type { SessionEvents } from "./events.js";
import type { UndoableFiles } from "./files/undoable-files.js";
import type { HookModels } from "./hooks/hook-models.js";
import type { HookResourceFiles } from "./hooks/hook-resource-files.js";
import type { SessionHooks } from "./hooks/session-hooks.js";
import type { Lifecycle } from "./lifecycle.js";
import type { ModelMemory } from "./model-memory.js";
import type { ParentSession } from "./parent-session.js";
import type { CommandRunner } from "./prompt/command-runner.js";
import type { Prompter } from "./prompt/prompter.js";
import type { UserShell } from "./prompt/user-shell.js";
import type { Reloader } from "./reloader.js";
import type { SessionImages } from "./run/session-images.js";
import type { SessionJobs } from "./run/session-jobs.js";
import type { SessionRunner } from "./run/session-run.js";
import type { SessionContext } from "./session-context.js";
import type { SessionMcp } from "./session-mcp.js";
import type { SessionState } from "./session-state.js";
import type { Telemetry } from "./telemetry.js";

/** The user interface of a session; set by `attachUI`. */
export interface SessionSurface {
	ui: SessionUI;
	shell: CommandShell | null;
	hasUI: boolean;
	mode: SessionMode;
}

/** The components of a session, connected by `create-session.ts`. */
export interface SessionComponents extends SessionServices {
	activity: SessionActivity;
	events: SessionEvents;
	state: SessionState;
	context: SessionContext;
	hooks: SessionHooks;
	hookModels: Pick<HookModels, "start">;
	hookResources: Pick<HookResourceFiles, "ready">;
	compaction: Compaction;
	runner: SessionRunner;
	userShell: UserShell;
	images: Pick<SessionImages, "deleteOriginals">;
	jobs: SessionJobs;
	/** What tools changed in files. */
	files: UndoableFiles;
	mcp: SessionMcp;
	lifecycle: Lifecycle;
	reloader: Reloader;
	commands: CommandRunner;
	prompter: Prompter;
	inspector: Inspector;
	memory: Pick<ModelMemory, "flush">;
	telemetry: Pick<Telemetry, "end">;
	/** The session as the parent of others. */
	asParent: ParentSession;
	/** What provides commands. */
	sources(): CommandSources;
	surface: SessionSurface;
	/** Problems found at the start and at reloads, one line each. */
	warnings: string[];
	/** The notice that reported that nothing can be saved; null while everything can. */
	unsaved(): string | null;
	/** Aborted when the session ends. */
	ended: AbortController;
	/** Connects to the machine on which tools work. */
	connectMachine(): Promise<void>;
}
