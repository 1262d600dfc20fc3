import { Spacer } from "@mariozechner/pi-tui";
import { onTestFinished } from "vitest";
import type { AgentEvent } from "../../../src/agent/events.js";
import { buildContext, type ContextStage } from "../../../src/context/build-context.js";
import type { BuiltContext } from "../../../src/context/context-message.js";
import type { EntrySource } from "../../../src/context/entry-message.js";
import type { SessionEntry } from "../../../src/log/entry.js";
import { Header } from "../../../src/modes/interactive/header.js";
import { StatusLine } from "../../../src/modes/interactive/status-line.js";
import { Transcript, type TranscriptSource } from "../../../src/modes/interactive/transcript.js";
import type { EntryRenderer } from "../../../src/modes/interactive/views/custom-entry-view.js";
import type { ViewStyle } from "../../../src/modes/interactive/views/view.js";
import { FAILURE_WORDS } from "../../../src/modes/request-error.js";
import { type Operation, phaseAfter, SessionActivity } from "../../../src/session/activity.js";
import type { AgentSessionEvent } from "../../../src/session/events.js";
import type { BuiltInTheme } from "../../../src/themes/built-in.js";
import { createKeymap } from "../../../src/tui/keymap.js";
import { LiveTUI } from "../../../src/tui/live-tui.js";
import { type ImageProtocol, TerminalImages } from "../../../src/tui/terminal-images.js";
import { createTheme } from "../../../src/tui/theme.js";
import { loadWordDiff } from "../../../src/util/word-diff.js";
import { VirtualTerminal } from "../../helpers/virtual-terminal.js";

/** A transcript on a terminal in memory, for a session of plain entries. */
export interface Stage {
	terminal: VirtualTerminal;
	tui: LiveTUI;
	transcript: Transcript;
	style: ViewStyle;
	status: StatusLine;
	/** What the transcript draws. */
	source: TranscriptSource;
	/** The session's log; `play` adds to it. */
	entries: SessionEntry[];
	/** Sets the clock of the status line, ms. */
	now(ms: number): void;
	/** Sends events to transcript and status line. Entries of `message_end` and `entry_appended` are added to the log. */
	play(...events: AgentSessionEvent[]): void;
	/** Computes the context with hooks and updates the transcript. */
	rebuild(stages?: ContextStage[]): Promise<BuiltContext>;
}

/** Options of a stage. */
export interface StageOptions {
	columns?: number;
	rows?: number;
	theme?: BuiltInTheme;
	gutter?: boolean;
	/** Image protocol of the terminal. Default: none. */
	images?: Exclude<ImageProtocol, "cells">;
	entries?: SessionEntry[];
	renderers?: Record<string, EntryRenderer>;
}

/** Timestamp of all entries. */
export const TIMESTAMP = "2026-01-02T03:04:05.000Z";

const HEADER: SessionEntry = {
	type: "session",
	version: 1,
	id: "0a1b2c3d-0000-4000-8000-000000000000",
	timestamp: TIMESTAMP,
	cwd: "/home/ada/src/shop",
};

/** Builds a stage, and stops it when the test ends. */
export async function createStage(options: StageOptions = {}): Promise<Stage> {
	await loadWordDiff();
	const terminal = new VirtualTerminal(options.columns ?? 80, options.rows ?? 24);
	const images = new TerminalImages(options.images ?? null);
	const tui = new LiveTUI(terminal, { resizeDelayMs: 1, images });
	const style: ViewStyle = {
		theme: createTheme(options.theme ?? "dark"),
		cwd: "/home/ada/src/shop",
		remote: null,
		home: "/home/ada",
		expanded: false,
		showThinking: false,
		previewThinking: true,
		thinkingLabel: null,
		gutter: options.gutter ?? true,
		keymap: createKeymap(),
		images,
		liveRows: () => Math.max(3, terminal.rows - 8),
		redrawScreen: () => tui.redrawScreen(),
		imageRows: () => Math.floor(terminal.rows * 0.4),
		screenRows: () => terminal.rows,
		columns: () => terminal.columns,
		requestRender: () => tui.requestRender(),
		requestStreamFrame: () => tui.requestStreamFrame(),
	};
	const header = new Header(style, "0.1.0", false);
	const transcript = new Transcript(tui.blocks, style, header);
	let clock = 0;
	const status = new StatusLine(style, () => clock);
	const entries: SessionEntry[] = [HEADER, ...(options.entries ?? [])];
	const log: EntrySource = {
		get length() {
			return entries.length;
		},
		at: (index) => entries.at(index),
	};
	const source: TranscriptSource = {
		entries: () => log,
		rendererOf: (type) => options.renderers?.[type],
		words: FAILURE_WORDS,
	};
	header.loaded = { hooks: [], skills: [], templates: [], contextFiles: [], warnings: [] };
	tui.addChild(new Spacer(1));
	tui.addChild(status);
	tui.start();
	onTestFinished(() => {
		status.stop();
		tui.stop();
	});
	transcript.load(source, await buildContext(log, []));
	const tell = (event: AgentSessionEvent) => {
		transcript.handle(event);
		status.handle(event);
	};
	// The same order as in a session.
	const activity = new SessionActivity();
	activity.subscribe((current) => tell({ type: "activity_changed", activity: current }));
	let run: Operation | null = null;
	const follow = (event: AgentEvent) => {
		if (event.type === "agent_start") run = activity.begin("run", { phase: "requesting" });
		const phase = phaseAfter(event);
		if (phase) run?.enter(phase);
	};
	const isOfAgent = (event: AgentSessionEvent): event is AgentEvent =>
		/^(agent|turn|message|tool|auto_retry)_/.test(event.type);
	return {
		terminal,
		tui,
		transcript,
		style,
		status,
		source,
		entries,
		now: (ms) => {
			clock = ms;
		},
		play(...events) {
			for (const event of events) {
				if (event.type === "message_end") {
					const { message, isRetried, entryIndex } = event;
					const mark = isRetried ? { retried: true as const } : {};
					entries[entryIndex] = { type: "message", timestamp: TIMESTAMP, message, ...mark };
				}
				if (event.type === "entry_appended") entries[event.entryIndex] = event.entry;
				if (isOfAgent(event)) follow(event);
				tell(event);
				if (event.type === "agent_end") run?.end();
			}
		},
		async rebuild(stages = []) {
			const context = await buildContext(log, stages);
			transcript.handle({ type: "context_changed", context });
			return context;
		},
	};
}
