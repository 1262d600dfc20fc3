import type { EntrySource } from "../../context/entry-message.js";
import { promptOfEntry } from "../../log/prompt-text.js";
import { nearestThinkingLevel } from "../../models/thinking-levels.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import type { AgentSessionEvent } from "../../session/events.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import type { PromptEditor } from "../../tui/prompt-editor.js";
import { readGitBranch, watchGitBranch } from "../../util/git-branch.js";
import { takeUnsent } from "../unsent-text.js";
import type { FooterFacts } from "./footer.js";
import type { Screen } from "./screen.js";
import type { TranscriptSource } from "./transcript.js";

/** Events that may change the footer. */
const FOOTER_EVENTS: ReadonlySet<AgentSessionEvent["type"]> = new Set([
	"message_end",
	"turn_end",
	"agent_end",
	"bash_end",
	"job_start",
	"job_end",
	"entry_appended",
	"context_changed",
	"session_changed",
	"queue_changed",
	"model_changed",
	"thinking_level_changed",
	"auto_compaction_end",
	// It may say that entries cannot be saved.
	"notice",
]);

/** Events that are shown while the session starts: slow hooks and what Escape stops. */
const SHOWN_EARLY: ReadonlySet<AgentSessionEvent["type"]> = new Set(["hook_running", "hook_done", "activity_changed"]);

/** Roles of messages that the user typed. */
const TYPED = ["user", "bashExecution"] as const;
/** Maximum number of prompts in the history. */
const HISTORY_PROMPTS = 100;
/** Maximum number of entries that are searched for them. */
const HISTORY_ENTRIES = 10_000;

export interface BindingOptions extends Pick<TranscriptSource, "words"> {
	/** Aborts when the screen closes. */
	ended: AbortSignal;
}

/** Shows a session on a screen until the session ends. */
export class SessionBinding {
	/** Notices and hook errors from before the session was drawn; null after that. */
	#early: AgentSessionEvent[] | null = [];
	#branch: string | null = null;
	/** The branch of another machine is being read; `again`: and must be read again. */
	#branchRead: "idle" | "reading" | "again" = "idle";
	#isCounting = false;
	/** Live view of the session's log. */
	readonly #entries: EntrySource;

	constructor(
		private readonly screen: Screen,
		private readonly session: AgentSession,
		private readonly editor: Pick<PromptEditor, "setThinkingLevel" | "putBack">,
		private readonly options: BindingOptions,
	) {
		this.#entries = {
			get length() {
				return session.log.length;
			},
			at: (index) => session.log.at(index),
		};
		session.subscribe((event) => this.#handle(event));
	}

	/** Draws the session. Call once it has started. */
	begin(): void {
		const { loaded } = this.session;
		const early = this.#early ?? [];
		this.#early = null;
		this.#showPlace();
		this.screen.header.loaded = loaded;
		this.#load();
		for (const event of early) {
			// The header already shows the startup warnings.
			const isKnown = event.type === "notice" && loaded.warnings.includes(event.message);
			if (!isKnown) this.screen.handle(event);
		}
		this.#restoreUnsent(true);
		this.#updateFooter();
		if (this.session.host.name !== "") return;
		const unwatch = watchGitBranch(this.session.cwd, () => {
			this.#readBranch();
			this.#updateFooter();
		});
		this.options.ended.addEventListener("abort", unwatch, { once: true });
	}

	/** The last prompts of the session for the editor's history, newest first. */
	promptHistory(): string[] {
		const { log } = this.session;
		const from = Math.max(0, log.length - HISTORY_ENTRIES);
		const texts: string[] = [];
		let at = log.findLastMessage(TYPED, log.length, from);
		while (at >= 0 && texts.length < HISTORY_PROMPTS) {
			const text = promptOfEntry(log.at(at));
			if (text !== undefined) texts.push(text);
			at = log.findLastMessage(TYPED, at, from);
		}
		return texts;
	}

	#handle(event: AgentSessionEvent): void {
		if (this.#early) {
			const waits = event.type === "notice" && event.waits === true;
			if (SHOWN_EARLY.has(event.type) || waits) this.screen.handle(event);
			else if (event.type === "notice" || event.type === "hook_error") this.#early.push(event);
			return;
		}
		this.screen.handle(event);
		if (event.type === "session_changed") {
			// The files were read again.
			this.#showPlace();
			this.screen.header.loaded = this.session.loaded;
			this.#load();
			if (event.reason === "switch") this.#restoreUnsent(false);
		}
		if (event.type === "queue_returned") this.editor.putBack(event.texts.join("\n\n"));
		// On another machine this takes a round trip: not after each turn.
		const turn = this.screen.style.remote ? "agent_end" : "turn_end";
		if (event.type === turn || event.type === "bash_done") this.#readBranch();
		if (FOOTER_EVENTS.has(event.type)) this.#updateFooter();
	}

	/** Puts what was not sent when the session ended the last time before what the user has typed by now. */
	#restoreUnsent(isStart: boolean): void {
		const text = takeUnsent(this.session, isStart);
		if (text !== "") this.editor.putBack(text);
	}

	/** Shows where tools work, and the branch there. */
	#showPlace(): void {
		const { name, cwd, home } = this.session.host;
		this.screen.style.remote = name === "" ? null : { name, cwd, home };
		this.#branch = null;
		this.#readBranch();
	}

	#readBranch(): void {
		const { host, cwd } = this.session;
		if (host.name === "") this.#branch = readGitBranch(cwd);
		else void this.#readMachineBranch(host);
	}

	/** Takes a round trip, which nothing waits for. */
	async #readMachineBranch(host: ToolHost): Promise<void> {
		const isReading = this.#branchRead !== "idle";
		this.#branchRead = isReading ? "again" : "reading";
		if (isReading) return;
		const branch = await (await import("./machine-branch.js")).readMachineBranch(host, this.options.ended);
		const mustRepeat = this.#branchRead === "again";
		this.#branchRead = "idle";
		if (this.options.ended.aborted) return;
		if (mustRepeat) return this.#readBranch();
		if (host !== this.session.host || branch === this.#branch) return;
		this.#branch = branch;
		this.#updateFooter();
	}

	#load(): void {
		const { session } = this;
		this.screen.transcript.load(
			{
				entries: () => this.#entries,
				rendererOf: (type, entry) => session.entryRenderer(type, entry),
				toolRendererOf: (name) => session.toolRenderer(name),
				hostOf: (index) => session.hostOf(index),
				words: this.options.words,
			},
			session.context,
			session.loaded.warnings,
		);
	}

	/** Counts the usage of a long session in small steps that do not block input. */
	#countInBackground(): void {
		if (this.#isCounting) return;
		this.#isCounting = true;
		const step = () => {
			if (this.options.ended.aborted) return;
			if (this.session.spentSoFar() === null) return void setImmediate(step);
			this.#isCounting = false;
			this.#updateFooter();
		};
		setImmediate(step);
	}

	#updateFooter(): void {
		const { model, thinkingLevel, sessionName, isReadOnly, queue } = this.session;
		const level = model?.reasoning ? nearestThinkingLevel(model, thinkingLevel) : thinkingLevel;
		const spent = this.session.spentSoFar();
		if (!spent) this.#countInBackground();
		const facts: FooterFacts = {
			branch: this.#branch,
			sessionName,
			isReadOnly,
			isUnsaved: this.session.unsaved !== null,
			model: model?.name ?? null,
			thinkingLevel: model?.reasoning ? level : null,
			context: this.session.contextUsage(),
			spent,
			queued: queue.steering.length + queue.followUps.length,
			jobs: this.session.jobs.running,
		};
		this.screen.footer.facts = facts;
		this.screen.window.name(sessionName, this.session.host.cwd);
		this.editor.setThinkingLevel(level);
	}
}
