import type { AgentSession } from "../../../sdk/agent-session.js";
import type { AgentSessionEvent } from "../../../session/events.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import { TerminalImages } from "../../../tui/terminal-images.js";
import { loadHighlighter } from "../../../util/highlight.js";
import { loadWordDiff } from "../../../util/word-diff.js";
import type { ViewStyle } from "../views/view.js";
import { PagerItems } from "./pager-items.js";
import { TranscriptPager, type TranscriptPagerOptions } from "./transcript-pager.js";

/** The screen as the transcript pager uses it. */
export interface TranscriptHost extends Pick<TranscriptPagerOptions, "startsAt" | "copy" | "view" | "requestRender"> {
	overlays: OverlayStack;
	style: DialogStyle;
	/** Style of the main screen's transcript. */
	views: ViewStyle;
}

/** Events after which the log or its context may differ. */
const CHANGES: ReadonlySet<AgentSessionEvent["type"]> = new Set([
	"message_end",
	"bash_end",
	"entry_appended",
	"context_changed",
	"agent_end",
]);

/** Shows the complete transcript on the alternate screen until the user closes it, and branches if the user chose to. */
export async function openTranscript(session: AgentSession, host: TranscriptHost): Promise<void> {
	const { overlays, style, views } = host;
	await Promise.all([loadHighlighter(), loadWordDiff()]);
	const images = new TerminalImages();
	const closed: ViewStyle = {
		...views,
		images,
		isTranscript: true,
		expanded: false,
		showThinking: false,
		previewThinking: true,
	};
	const items = new PagerItems(
		{
			log: () => session.log,
			context: () => session.context,
			isRunning: () => session.isRunning,
			rendererOf: (type, entry) => session.entryRenderer(type, entry),
			toolRendererOf: (name) => session.toolRenderer(name),
			hostOf: (index) => session.hostOf(index),
		},
		closed,
		{ ...closed, expanded: true, showThinking: true },
	);
	const left = new AbortController();
	const unsubscribe = session.subscribe(({ type }) => {
		if (type === "session_changed") left.abort();
		else if (CHANGES.has(type)) host.requestRender();
	});
	try {
		const branchFrom = await overlays.open<number | null>(
			(settle) =>
				new TranscriptPager(style, {
					items,
					startsAt: host.startsAt,
					usage: () => session.contextUsage(),
					waiting: () => overlays.waiting,
					gutter: () => views.gutter,
					copy: host.copy,
					view: host.view,
					requestRender: host.requestRender,
					onClose: settle,
				}),
			{ canceled: null, isFullScreen: true, isOnTop: true, signal: left.signal },
		);
		if (branchFrom !== null) await session.prompt(`/branch ${branchFrom}`);
	} finally {
		unsubscribe();
	}
}
